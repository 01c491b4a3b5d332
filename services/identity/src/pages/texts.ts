/** The catalogue of what pages say, and which language somebody reads. */
import { DEFAULT_LANGUAGE, knownLanguage, LANGUAGES, type Language } from '@cardea/mail';
import { DE } from './texts-de.ts';
import { EN, type TextKey, type Texts } from './texts-en.ts';

export { DEFAULT_LANGUAGE, LANGUAGES, type Language };
export const CATALOGUE: { readonly [language in Language]: Texts } = { en: EN, de: DE };

/** Ranges that are looked at of a header or a parameter. */
const RANGES_MAX = 20;

/**
 * What an application asked for (`ui_locales`, in order of preference) goes before the browser's own wish;
 * undefined where neither names a language that there is.
 */
export function languageOf(
  headers: { readonly [name: string]: string | undefined },
  uiLocales: unknown = undefined,
): Language | undefined {
  const asked = typeof uiLocales === 'string' ? uiLocales.split(/\s+/).slice(0, RANGES_MAX) : [];
  return firstKnown(asked) ?? firstKnown(accepted(headers['accept-language'] ?? ''));
}

/** The language that fits the locale of a user's profile. */
export const languageOfLocale = (locale: string | null): Language | undefined =>
  locale === null ? undefined : firstKnown([locale]);

const firstKnown = (tags: readonly string[]): Language | undefined => {
  for (const tag of tags) {
    const known = knownLanguage(tag.toLowerCase().split('-')[0] ?? '');
    if (known !== undefined) return known;
  }
  return undefined;
};

/** RFC 9110, 12.5.4: by weight; of equal ones the first. */
function accepted(header: string): readonly string[] {
  return header
    .split(',')
    .slice(0, RANGES_MAX)
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}

export type Say = (key: TextKey, values?: { readonly [name: string]: string }) => string;

/** The text with its values, unescaped: templates escape what they are given. */
export const sayIn =
  (language: Language): Say =>
  (key, values = {}) =>
    CATALOGUE[language][key].replaceAll(/\{(\w+)\}/g, (_whole, name) => values[name] ?? '');

/** The text for a refusal; a general one where it has none of its own. */
export const refusalKey = (code: string): TextKey => {
  const key = `refused.${code}`;
  return Object.hasOwn(EN, key) ? (key as TextKey) : 'refused.other';
};

/** Codes of limits, which end by themselves. */
const LIMITED: ReadonlySet<string> = new Set(['rate_limited', 'too_many_attempts']);
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** What a page says of a refusal; of a limit also how long it lasts (`Retry-After`, in seconds). */
export function refusalText(say: Say, code: string, retryAfter: string | undefined): string {
  const seconds = Number(retryAfter);
  if (!LIMITED.has(code) || !(seconds > 0)) return say(refusalKey(code));
  return say('refused.until', { time: durationText(seconds) });
}

/** Rounded up, so that nobody comes back too early; the symbols are those of every language. */
function durationText(seconds: number): string {
  if (seconds <= MINUTE_S) return `${Math.ceil(seconds)} s`;
  return seconds <= 2 * HOUR_S
    ? `${Math.ceil(seconds / MINUTE_S)} min`
    : `${Math.ceil(seconds / HOUR_S)} h`;
}

/** At a provider it is the provider that does not vouch for an address. */
export const socialRefusalKey = (code: string): TextKey =>
  code === 'email_not_verified' ? 'refused.social_address' : refusalKey(code);
