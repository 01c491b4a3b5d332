/** Sanitizes text that agents write and users read: nothing in it may hide, reorder or break a line. */

/** Control, format (bidi, zero-width, tags) and line-separating characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const cleaned = (text: string): string =>
  text.normalize('NFC').replaceAll(UNSEEN, '').trim();

export const isClean = (text: string): boolean => text !== '' && cleaned(text) === text;

/** Cuts by code points, so that no surrogate pair is split. */
export const cut = (text: string, maxChars: number): string =>
  [...text].length <= maxChars ? text : `${[...text].slice(0, maxChars - 1).join('')}…`;
