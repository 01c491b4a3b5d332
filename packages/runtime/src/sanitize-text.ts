/**
 * Sanitizes text that one person or agent writes and another reads: nothing in it may hide, reorder or break a line.
 */

/** Control, format (bidi, zero-width, tags) and line-separating characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const cleaned = (text: string): string =>
  text.normalize('NFC').replaceAll(UNSEEN, '').trim();

/** Characters that change the reading order of their surroundings (U+202E), and control characters. */
const DECEPTIVE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;

/**
 * False for a name that looks different from its contents. Joiners are allowed, because scripts and emoji need them.
 */
export const isHonestName = (name: string): boolean => !DECEPTIVE.test(name);

/**
 * Characters that are invisible, or that move or cover others: control and format characters, blanks other than the
 * space, and all marks of a letter after its fourth.
 */
const HIDDEN =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|(?<=\p{M}{4})\p{M}/gu;

/**
 * Removes nothing, but names invisible characters, for example as `[U+202E]`. For text that a person has to see
 * completely.
 */
export const visible = (text: string): string =>
  text.replaceAll(HIDDEN, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `[U+${hex.padStart(4, '0')}]`;
  });

export const isClean = (text: string): boolean => text !== '' && cleaned(text) === text;

/** Cuts by code points, so that no surrogate pair is split. */
export const cut = (text: string, maxChars: number): string =>
  [...text].length <= maxChars ? text : `${[...text].slice(0, maxChars - 1).join('')}…`;
