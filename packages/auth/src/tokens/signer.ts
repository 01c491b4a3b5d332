import { sign } from 'node:crypto';
import type { SigningKey } from './signing-key.ts';

/** The keys of a deployment, as far as signing goes. */
export interface SigningKeys {
  /** The key that signs now. */
  active(): SigningKey;
}

/** Signs claims as a compact JWS of this `typ` with the active key; the claims get no time, id or issuer here. */
export type SignToken = (typ: string, claims: object) => string;

/** Encoded headers that are kept: there is one key, and a handful of types. */
const HEADERS_MAX = 16;

/**
 * EdDSA, synchronously: a signature costs less than the way through the thread pool. `signedHere` is told of
 * each token.
 */
export function signer(keys: SigningKeys, signedHere?: (token: string) => void): SignToken {
  const headers = new Map<string, string>();
  const headerOf = (typ: string, kid: string): string => {
    const name = `${typ} ${kid}`;
    const known = headers.get(name);
    if (known !== undefined) return known;
    if (headers.size >= HEADERS_MAX) headers.clear();
    const header = base64url(JSON.stringify({ alg: 'EdDSA', typ, kid }));
    headers.set(name, header);
    return header;
  };
  return (typ, claims) => {
    const { kid, privateKey } = keys.active();
    const signed = `${headerOf(typ, kid)}.${base64url(JSON.stringify(claims))}`;
    const token = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    signedHere?.(token);
    return token;
  };
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
