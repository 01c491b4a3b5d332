import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { lengthPrefixed } from './framing.ts';

/** SHA-256 of one text or byte string, as it is. */
export const sha256 = (data: string | Buffer): Buffer => hash('sha256', data, 'buffer');

/** SHA-256 over length-prefixed parts. */
export const sha256Of = (...parts: readonly (string | Buffer)[]): Buffer =>
  sha256(lengthPrefixed(...parts));

/** HMAC-SHA256 over length-prefixed parts. */
export const hmac = (key: Buffer, ...parts: readonly (string | Buffer)[]): Buffer =>
  createHmac('sha256', key)
    .update(lengthPrefixed(...parts))
    .digest();

/** Compares in constant time; only the lengths may show. */
export function sameBytes(a: string | Buffer, b: string | Buffer): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
