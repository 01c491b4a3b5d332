/** The algorithms of signing keys: generating, importing, publishing and using their keys (RFC 7518, RFC 8037). */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  hash,
  type KeyObject,
  sign,
} from 'node:crypto';
import { promisify } from 'node:util';
import { jwkThumbprint, type PublicJwk, publicJwk } from '@cardea/auth';

/** EdDSA signs all of Cardea's own tokens. The others sign only tokens for clients. */
export const KEY_ALGORITHMS = ['EdDSA', 'RS256', 'ES256'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];

export type KeyPair = {
  readonly kid: string;
  readonly algorithm: KeyAlgorithm;
  readonly privateKey: KeyObject;
};

type RsaJwk = {
  readonly kty: 'RSA';
  readonly n: string;
  readonly e: string;
  readonly kid: string;
  readonly alg: 'RS256';
  readonly use: 'sig';
};
type EcJwk = {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
};

/** A public key of any algorithm as it appears in a JWK Set. `kid` is its RFC 7638 thumbprint. */
export type SigningJwk = PublicJwk | RsaJwk | EcJwk;

const RSA_BITS = 2048;
const generate = promisify(generateKeyPair);

/** Generates a key in the thread pool, because an RSA key takes up to a second. */
export async function generateKey(algorithm: KeyAlgorithm): Promise<KeyPair> {
  const privateKey = await newPrivateKey(algorithm);
  return { kid: publicKeyOf(privateKey).kid, algorithm, privateKey };
}

async function newPrivateKey(algorithm: KeyAlgorithm): Promise<KeyObject> {
  switch (algorithm) {
    case 'EdDSA':
      return (await generate('ed25519')).privateKey;
    case 'RS256':
      return (await generate('rsa', { modulusLength: RSA_BITS })).privateKey;
    case 'ES256':
      return (await generate('ec', { namedCurve: 'P-256' })).privateKey;
  }
}

/** Reads the output of `exportPrivateKey` of `@cardea/auth`, for any algorithm. */
export function importKey(text: string): KeyPair {
  const der = Buffer.from(text, 'base64url');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { kid, alg: algorithm } = publicKeyOf(privateKey);
  return { kid, algorithm, privateKey };
}

/** Returns the public key. Throws for a key of any other type. */
export function publicKeyOf(privateKey: KeyObject): SigningJwk {
  if (privateKey.asymmetricKeyType === 'ed25519') return publicJwk(privateKey);
  const { kty, crv, x, y, n, e } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (kty === 'RSA' && n !== undefined && e !== undefined) {
    return { kty, n, e, kid: jwkThumbprint({ e, kty, n }), alg: 'RS256', use: 'sig' };
  }
  if (kty === 'EC' && crv === 'P-256' && x !== undefined && y !== undefined) {
    return { kty, crv, x, y, kid: jwkThumbprint({ crv, kty, x, y }), alg: 'ES256', use: 'sig' };
  }
  throw new Error('no algorithm signs with a key of this type');
}

/** The signature in the form of RFC 7518, computed synchronously. */
export function signatureBy({ algorithm, privateKey }: KeyPair, data: Buffer): Buffer {
  switch (algorithm) {
    case 'EdDSA':
      return sign(null, data, privateKey);
    case 'RS256':
      return sign('sha256', data, privateKey);
    case 'ES256':
      return sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  }
}

/** Computes `at_hash` (OpenID Connect Core 3.1.3.6): half of the hash that the algorithm uses, SHA-512 for Ed25519. */
export function leftHalfOfHash(algorithm: KeyAlgorithm | 'Ed25519', text: string): string {
  const name = algorithm === 'RS256' || algorithm === 'ES256' ? 'sha256' : 'sha512';
  const digest = hash(name, text, 'buffer');
  return digest.subarray(0, digest.length / 2).toString('base64url');
}
