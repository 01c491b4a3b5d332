/** Words that agents write and people read: nothing in them may hide, reorder or break a line. */

/** Control, format (bidi, zero-width, tags) and line-separating characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const cleaned = (text: string): string =>
  text.normalize('NFC').replaceAll(UNSEEN, '').trim();

export const isClean = (text: string): boolean => text !== '' && cleaned(text) === text;

/** Cut by code points, so that no half character is left. */
export const cut = (text: string, maxChars: number): string =>
  [...text].length <= maxChars ? text : `${[...text].slice(0, maxChars - 1).join('')}…`;
