/** Determines the language of a page's or mail's reader. */
import { knownLanguage, type Language } from '@cardea/mail';

/** The number of ranges of a header or a parameter that are read. */
const RANGES_MAX = 20;

/**
 * The application's request (`ui_locales`, in order of preference) precedes the browser's preference. Undefined if
 * neither names a supported language.
 */
export function languageOf(
  headers: { readonly [name: string]: string | undefined },
  uiLocales: unknown = undefined,
): Language | undefined {
  const wanted = typeof uiLocales === 'string' ? uiLocales.split(/\s+/).slice(0, RANGES_MAX) : [];
  return firstKnown(wanted) ?? firstKnown(accepted(headers['accept-language'] ?? ''));
}

/** The supported language that fits the locale of a user's profile. */
export const languageOfLocale = (locale: string | null): Language | undefined =>
  locale === null ? undefined : firstKnown([locale]);

const firstKnown = (tags: readonly string[]): Language | undefined => {
  for (const tag of tags) {
    const known = knownLanguage(tag.toLowerCase().split('-')[0] ?? '');
    if (known !== undefined) return known;
  }
  return undefined;
};

/** RFC 9110, 12.5.4: ordered by weight, and for equal weights by position. */
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
