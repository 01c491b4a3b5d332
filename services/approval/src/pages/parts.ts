/** What the pages of this service have in common. */
import { form, hidden, html, type Markup, NOTHING, type Shown, SIGN_OUT_PATH } from '@cardea/pages';
import type { TextKey } from './texts.ts';

/** `back` leads to the list; the page of the list itself has none. */
export function atTheTop(
  { frame, signOutToken }: Pick<Shown<TextKey, unknown>, 'frame' | 'signOutToken'>,
  back: string | undefined,
): Markup {
  const { say } = frame;
  const link = back === undefined ? NOTHING : html`<a href="${back}">${say('all')}</a>`;
  return html`<nav class="account">${link}${form(SIGN_OUT_PATH, hidden('form_token', signOutToken), html`<button class="plain">${say('sign_out')}</button>`)}</nav>
`;
}

export const SEVERITY_TONES = { low: 'info', medium: 'info', high: 'warn' } as const;
