/**
 * A webhook's secret is shown once and never stored. Two hashes are stored instead, which sign as the secret does. HMAC
 * replaces a key longer than its 64-byte block by that key's hash, so HMAC(SHA-256(secret), m) equals HMAC(secret, m)
 * in every language, if the secret is longer than a block.
 */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { Random } from '@cardea/runtime';

export const SECRET_BYTES = 66;
const SECRET_PREFIX = 'whsec_';
const HASH_BYTES = 32;

type IssuedSecret = {
  /** Shown to its owner once. */
  readonly secret: string;
  /** Base64 of both hashes, to be encrypted. */
  readonly keys: string;
};

export type SigningKeys = {
  /** Signs with the secret's text. */
  readonly text: KeyObject;
  /** Signs with the bytes that the secret encodes (Standard Webhooks). */
  readonly bytes: KeyObject;
};

export function issueSecret(random: Random): IssuedSecret {
  const bytes = random.bytes(SECRET_BYTES);
  const secret = `${SECRET_PREFIX}${bytes.toString('base64')}`;
  const keys = Buffer.concat([hash('sha256', secret, 'buffer'), hash('sha256', bytes, 'buffer')]);
  return { secret, keys: keys.toString('base64') };
}

export function readKeys(keys: string): SigningKeys {
  const both = Buffer.from(keys, 'base64');
  return {
    text: createSecretKey(both.subarray(0, HASH_BYTES)),
    bytes: createSecretKey(both.subarray(HASH_BYTES)),
  };
}

/** The headers with which a receiver verifies who sent a body, and when. */
export function signatureHeaders(
  keys: SigningKeys,
  message: { readonly id: string; readonly at: Date; readonly body: string },
): { readonly [name: string]: string } {
  const seconds = String(Math.floor(message.at.getTime() / 1000));
  const whole = createHmac('sha256', keys.text).update(message.body).digest('hex');
  const standard = createHmac('sha256', keys.bytes)
    .update(`${message.id}.${seconds}.${message.body}`)
    .digest('base64');
  return {
    'X-Service-Signature': `sha256=${whole}`,
    'webhook-id': message.id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard}`,
  };
}
