/** Finds the applications to which a final page links. */
import { html, type Markup, mainLink, signInAddress } from '@cardea/pages';
import type { Frame } from './frame.ts';

/** An application where the person continues and signs in. Without a name it is Cardea's own pages. */
export type Onward = { readonly name?: string; readonly href: string };

/** Finds where the users of a tenant continue. The argument is undefined if the tenant is unknown. */
export type FindOnward = (tenantId: string | undefined) => Promise<readonly Onward[]>;

export const findOnward =
  (
    { PUBLIC_URL }: { readonly PUBLIC_URL: string },
    applicationsOf: (tenantId: string) => Promise<readonly Onward[]>,
  ): FindOnward =>
  async (tenantId) => {
    const applications = tenantId === undefined ? [] : await applicationsOf(tenantId);
    return applications.length > 0 ? applications : [signInHere(PUBLIC_URL, tenantId)];
  };

/** Links to the first of our own pages. */
const signInHere = (publicUrl: string, tenant: string | undefined): Onward => ({
  href: publicUrl + signInAddress({ returnTo: '', tenant }),
});

/** The first link is the one that most people want. */
export const onwardLinks = ({ say }: Frame, all: readonly Onward[]): Markup =>
  html`${all.map(({ name, href }, at) => {
    const text = name === undefined ? say('sign_in.submit') : say('onward.application', { name });
    return at === 0 ? mainLink(href, text) : html`<a class="button" href="${href}">${text}</a>`;
  })}`;
