/** Which language the reader of a page or of a mail wants. */
import { knownLanguage, type Language } from '@cardea/mail';

/** The number of ranges of a header or a parameter that are looked at. */
const RANGES_MAX = 20;

/**
 * What an application asks for (`ui_locales`, in order of preference) precedes the browser's own wish;
 * undefined where neither names a language that there is.
 */
export function languageOf(
  headers: { readonly [name: string]: string | undefined },
  uiLocales: unknown = undefined,
): Language | undefined {
  const wanted = typeof uiLocales === 'string' ? uiLocales.split(/\s+/).slice(0, RANGES_MAX) : [];
  return firstKnown(wanted) ?? firstKnown(accepted(headers['accept-language'] ?? ''));
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
