import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { lengthPrefixed } from './envelope.ts';

/** SHA-256 of one text or byte string without framing. */
export const sha256 = (data: string | Buffer): Buffer => hash('sha256', data, 'buffer');

/** SHA-256 over length-prefixed parts. */
export const sha256Of = (...parts: readonly (string | Buffer)[]): Buffer =>
  sha256(lengthPrefixed(...parts));

/** HMAC-SHA256 over length-prefixed parts. A key's bytes must never change. */
export const hmac = (key: Buffer, ...parts: readonly (string | Buffer)[]): Buffer =>
  createHmac('sha256', keyObjectOf(key))
    .update(lengthPrefixed(...parts))
    .digest();

const keyObjects = new WeakMap<Buffer, KeyObject>();
/** Key objects by their bytes. Creating one at every use would cost six times the MAC itself. */
export function keyObjectOf(key: Buffer): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, known);
  return known;
}

/** Compares in constant time. Only the lengths may be revealed. */
export function sameBytes(a: string | Buffer, b: string | Buffer): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
