import { typedCode } from './typed-code.ts';

/** Base 32 that people can read out: without I, L, O and U; upper and lower case are equal. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BITS = 5;

/** Encodes whole groups of five bits and drops the remaining bits. */
export function crockford(bytes: Buffer): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= BITS) {
      bits -= BITS;
      text += DIGITS[(held >> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  return text;
}

/** Reads a code as people type it: any case, dashes, spaces, and O, I and L for digits. */
export function readCrockford(text: string): string | undefined {
  const plain = typedCode(text).toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1');
  return /^[0-9A-HJKMNP-TV-Z]+$/.test(plain) ? plain : undefined;
}
