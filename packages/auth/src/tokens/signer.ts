import { sign } from 'node:crypto';
import { computedOnce } from '@cardea/runtime';
import type { SigningKey } from './signing-key.ts';

/** The part of a deployment's keys that signing needs. */
export interface SigningKeys {
  /** The key that signs now. */
  active(): SigningKey;
}

/** Signs claims as a compact JWS of this `typ` with the active key. It adds no claims. */
export type SignToken = (typ: string, claims: object) => string;

/** How many encoded headers are kept. There is one key, and a handful of types. */
const HEADERS_MAX = 16;

/**
 * Signs with EdDSA, synchronously, because a signature costs less than a round trip through the thread pool.
 * `signedHere` is called with each token.
 */
export function signer(keys: SigningKeys, signedHere?: (token: string) => void): SignToken {
  const headers = computedOnce<string, string>(HEADERS_MAX);
  const headerOf = (typ: string, kid: string): string =>
    headers(`${typ} ${kid}`, () => base64url(JSON.stringify({ alg: 'EdDSA', typ, kid })));
  return (typ, claims) => {
    const { kid, privateKey } = keys.active();
    const signed = `${headerOf(typ, kid)}.${base64url(JSON.stringify(claims))}`;
    const token = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    signedHere?.(token);
    return token;
  };
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
