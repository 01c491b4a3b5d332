/** Builds the two parts of a mail, and limits which texts of people and agents may appear in them. */
import { cleaned, cut } from '@cardea/runtime';

export type MailText = {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

/** Words of strangers in a mail that carries the deployment's sender. */
const STRANGERS_CHARACTERS_MAX = 60;
const SCHEME = /[a-z][a-z0-9+.-]*:\/\//giu;

/** Plain text of one line in which mail programs find no link with a scheme. */
export const untrustedText = (text: string): string =>
  cut(cleaned(text.replaceAll(/\s+/gu, ' ').replaceAll(SCHEME, '')), STRANGERS_CHARACTERS_MAX);

/** For what people wrote where it must not begin a line of its own. */
export const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

/** A time of JSON as people read it, to the minute. */
export const utcText = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;
