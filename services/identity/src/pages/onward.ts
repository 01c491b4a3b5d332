/** What a page that ends something leads on to. */
import { html, type Markup, mainLink } from '@cardea/pages';
import type { Frame } from './frame.ts';

/** An application at which the person goes on, and signs in. */
export type Onward = { readonly name: string; readonly href: string };

/** The first one is what most people want. */
export const onwardLinks = ({ say }: Frame, applications: readonly Onward[]): Markup =>
  html`${applications.map(({ name, href }, at) => {
    const text = say('onward.application', { name });
    return at === 0 ? mainLink(href, text) : html`<a class="button" href="${href}">${text}</a>`;
  })}`;
