/** Builds the two parts of a mail, and limits which texts of people and agents may appear in them. */
import { cleaned, cut } from '@cardea/runtime';
import type { Language } from './languages.ts';

export type MailText = {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

/** The longest text of strangers in a mail from the deployment's own sender. */
const STRANGERS_CHARACTERS_MAX = 60;
const SCHEME = /[a-z][a-z0-9+.-]*:\/\//giu;

/** Plain text of one line in which mail programs find no link with a scheme. */
export const untrustedText = (text: string): string =>
  cut(cleaned(text.replaceAll(/\s+/gu, ' ').replaceAll(SCHEME, '')), STRANGERS_CHARACTERS_MAX);

/** Joins the lines of a person's text that must not begin a new line. */
export const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

const SPAN_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A length of time in words, exact, in the largest unit of which it is a whole number: `15 minutes`, `1 day`. */
export function spanText(seconds: number, language: Language): string {
  const [unit, length] = SPAN_UNITS.find(([, each]) => seconds % each === 0) ?? ['second', 1];
  const format = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 } as const;
  return new Intl.NumberFormat(language, format).format(seconds / length);
}

/** A time in readable form, to the minute. */
export const utcText = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`;
