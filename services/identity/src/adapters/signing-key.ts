/** Ed25519 keys of our own and the JWS that they make; synchronous, never on the thread pool. */
import {
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { decrypt, encrypt, sha256, Tampered } from '@cardea/crypto';
import type { PublicJwk } from '../keyring/keyring.ts';

export type KeyPair = {
  readonly kid: string;
  readonly publicJwk: PublicJwk;
  readonly privateKey: KeyObject;
};

export function drawKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const kid = thumbprint(x);
  return {
    kid,
    publicJwk: { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' },
    privateKey,
  };
}

/** RFC 7638, of an Ed25519 key. */
const thumbprint = (x: string): string =>
  sha256(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })).toString('base64url');

/** The private half under the deployment's secret; bound to its kid. */
export const wrapPrivateKey = (secret: Buffer, { kid, privateKey }: KeyPair): string =>
  encrypt(
    createSecretKey(secret),
    privateKey.export({ format: 'der', type: 'pkcs8' }),
    placeOf(kid),
  ).toString('base64url');

/** Undefined when the secret is another. */
export function unwrapPrivateKey(
  secret: Buffer,
  kid: string,
  wrapped: string,
): KeyObject | undefined {
  try {
    const blob = Buffer.from(wrapped, 'base64url');
    const key = decrypt(createSecretKey(secret), blob, placeOf(kid));
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  } catch (error) {
    if (error instanceof Tampered) return undefined;
    throw error;
  }
}

const placeOf = (kid: string) => ['jwk', kid];

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs with one key; the header of each `typ` is made once. */
export function jwsSigner({ kid, privateKey }: Pick<KeyPair, 'kid' | 'privateKey'>) {
  const headers = new Map<string, string>();
  const headerOf = (typ: string): string => {
    const header = headers.get(typ) ?? base64url({ alg: 'EdDSA', typ, kid });
    headers.set(typ, header);
    return header;
  };
  return (typ: string, claims: object): string => {
    const data = `${headerOf(typ)}.${base64url(claims)}`;
    return `${data}.${sign(null, Buffer.from(data), privateKey).toString('base64url')}`;
  };
}
