/** Parts that several of the account's pages share. */
import { html, type Markup, type Say, tag } from '@cardea/pages';
import type { TextKey } from './texts-en.ts';

export const addressOf = (
  say: Say<TextKey>,
  of: { readonly email: string; readonly email_verified: boolean },
): Markup =>
  html`${of.email} ${of.email_verified ? tag('good', say('email.verified')) : tag('warn', say('email.unverified'))}`;

type Device = {
  readonly browser: string;
  readonly os: string;
  readonly client_id?: string;
};

/** The browser and its system. Undefined if neither is known. */
export const deviceName = ({ browser, os }: Device): string | undefined => {
  const known = [browser, os].filter((each) => each !== '');
  return known.length === 0 ? undefined : known.join(', ');
};
