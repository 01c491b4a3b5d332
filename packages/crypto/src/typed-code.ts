/** The maximum length of a typed text. It is longer than any code with the characters that may be typed in between. */
const TYPED_CHARS_MAX = 128;
/** Spaces, dashes of any kind (Unicode does not class the minus sign as one), and invisible characters. */
const BETWEEN = /[\s\p{Pd}\p{Cf}\u2212]/gu;
const DIGIT = /^\p{Nd}$/u;
const DIGITS = /\p{Nd}/gu;

/**
 * Normalizes a typed code, whatever keyboard, mail program or word processor it came through. Digits of any script
 * become ASCII digits, full-width letters become letters, and characters in between are removed. Empty if the text is
 * too long for a code.
 */
export const typedCode = (text: string): string =>
  text.length > TYPED_CHARS_MAX
    ? ''
    : text.normalize('NFKC').replaceAll(BETWEEN, '').replaceAll(DIGITS, asciiDigit);

/** The digits of a script are ten consecutive code points, from zero on (Unicode, 4.6). */
function asciiDigit(digit: string): string {
  let value = 0;
  for (let at = (digit.codePointAt(0) ?? 0) - 1; DIGIT.test(String.fromCodePoint(at)); at -= 1) {
    value += 1;
  }
  return String(value % 10);
}
