/** Encodes bytes as letters and digits, without characters at which a double click would end the selection. */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = 62n;

/** The bytes as one number in exactly `length` digits. Higher digits are cut off. */
export function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex') || '0'}`);
  let text = '';
  for (let digit = 0; digit < length; digit += 1) {
    text = DIGITS[Number(rest % BASE)] + text;
    rest /= BASE;
  }
  return text;
}
