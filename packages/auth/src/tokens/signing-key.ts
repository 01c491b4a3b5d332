import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { jwkThumbprint } from './jwk-thumbprint.ts';

/** An Ed25519 key that signs tokens. Its id is the RFC 7638 thumbprint of its public key. */
export type SigningKey = { readonly kid: string; readonly privateKey: KeyObject };

/** A public key as it appears in the JWK Set. */
export type PublicJwk = {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
};

export function generateSigningKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { kid: publicJwk(privateKey).kid, privateKey };
}

/** The public key of a private or public key. */
export function publicJwk(key: KeyObject): PublicJwk {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const { x } = publicKey.export({ format: 'jwk' });
  if (publicKey.asymmetricKeyType !== 'ed25519' || x === undefined) {
    throw new Error('Only Ed25519 keys sign tokens.');
  }
  return { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint(x), alg: 'EdDSA', use: 'sig' };
}

/** The private key as a text to encrypt: PKCS #8 as DER, base64url. */
export const exportPrivateKey = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'pkcs8' }).toString('base64url');

/** Undefined for a key of another type, or one whose `kid` is not its thumbprint. */
export function importPublicJwk(
  jwk: object,
): { readonly kid: string; readonly publicKey: KeyObject } | undefined {
  const { kty, crv, x, kid } = jwk as Partial<Record<keyof PublicJwk, unknown>>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return undefined;
  if (!/^[\w-]{43}$/.test(x) || kid !== thumbprint(x)) return undefined;
  const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  return { kid, publicKey };
}

const thumbprint = (x: string): string => jwkThumbprint({ crv: 'Ed25519', kty: 'OKP', x });
