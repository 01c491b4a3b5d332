/** More than any code has, whatever was typed between its characters. */
const TYPED_CHARS_MAX = 128;
/** Spaces, dashes of any kind (the minus sign is none to Unicode), and marks that nobody sees. */
const BETWEEN = /[\s\p{Pd}\p{Cf}\u2212]/gu;
const DIGIT = /^\p{Nd}$/u;
const DIGITS = /\p{Nd}/gu;

/**
 * A code as it was printed, whatever keyboard, mail program or word processor it went through: digits of any
 * script are ASCII digits, full-width letters are letters, and what stands between characters is left out. Empty
 * for what is too long to be a code.
 */
export const typedCode = (text: string): string =>
  text.length > TYPED_CHARS_MAX
    ? ''
    : text.normalize('NFKC').replaceAll(BETWEEN, '').replaceAll(DIGITS, asciiDigit);

/** The digits of a script are ten code points in a row, from zero on (Unicode, 4.6). */
function asciiDigit(digit: string): string {
  let value = 0;
  for (let at = (digit.codePointAt(0) ?? 0) - 1; DIGIT.test(String.fromCodePoint(at)); at -= 1) {
    value += 1;
  }
  return String(value % 10);
}
