/**
 * The texts of a service's pages. A catalogue has each key in each language, or it does not compile. The texts of the
 * frame are part of every catalogue.
 */
import { LANGUAGES, type Language } from '@cardea/mail';
import { DE_FRAME, EN_FRAME, type FrameTextKey } from './frame-texts.ts';

export type Texts<Key extends string> = { readonly [key in Key]: string };
export type Catalogue<Key extends string = never> = {
  readonly [language in Language]: Texts<Key | FrameTextKey>;
};

/** Returns the text with its values, unescaped, because templates escape their values. */
export type Say<Key extends string = never> = (
  key: Key | FrameTextKey,
  values?: { readonly [name: string]: string },
) => string;

/** Returns the text for a refusal. For a limit it includes how long that lasts (`Retry-After`, in seconds). */
export type SayRefusal = (code: string, retryAfter?: string | undefined) => string;

const FRAME_TEXTS: Catalogue = { en: EN_FRAME, de: DE_FRAME };

/** The texts of a service, with `{name}` for values, completed by those of the frame. */
export const catalogue = <Key extends string>(
  own: {
    readonly [language in Language]: Texts<Key>;
  },
): Catalogue<Key> =>
  Object.fromEntries(
    LANGUAGES.map((language) => [language, { ...FRAME_TEXTS[language], ...own[language] }]),
  ) as Catalogue<Key>;

export const sayIn =
  <Key extends string>(texts: Catalogue<Key>, language: Language): Say<Key> =>
  (key, values = {}) => {
    const text = texts[language][key];
    return text.includes('{')
      ? text.replaceAll(/\{(\w+)\}/g, (_whole, name) => values[name] ?? '')
      : text;
  };

/** Codes of limits, which expire on their own. */
const LIMITED: ReadonlySet<string> = new Set(['rate_limited', 'too_many_attempts']);

/** A code has the text `refused.<code>` of the catalogue, or a general one. */
export function sayRefusalIn<Key extends string>(
  texts: Catalogue<Key>,
  language: Language,
): SayRefusal {
  const say = sayIn(texts, language);
  return (code, retryAfter) => {
    const seconds = Number(retryAfter);
    if (LIMITED.has(code) && seconds > 0) {
      return say('refused.until', { time: durationText(seconds) });
    }
    const key = `refused.${code}`;
    const isKnown = Object.hasOwn(texts[language], key);
    return say(isKnown ? (key as Key | FrameTextKey) : 'refused.other');
  };
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** Rounded up, so that nobody tries again too early. The unit symbols are the same in every language. */
function durationText(seconds: number): string {
  if (seconds <= MINUTE_S) return `${Math.ceil(seconds)} s`;
  return seconds <= 2 * HOUR_S
    ? `${Math.ceil(seconds / MINUTE_S)} min`
    : `${Math.ceil(seconds / HOUR_S)} h`;
}
