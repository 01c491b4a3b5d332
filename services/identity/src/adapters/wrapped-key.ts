/** The private part of a signing key, encrypted under the deployment's secret and bound to its `kid`. */
import { createSecretKey } from 'node:crypto';
import { exportPrivateKey } from '@cardea/auth';
import { decrypt, encrypt, Tampered } from '@cardea/crypto';
import { importKey, type KeyPair } from './key-algorithms.ts';

export const wrapPrivateKey = (secret: Buffer, { kid, privateKey }: KeyPair): string =>
  encrypt(createSecretKey(secret), exportPrivateKey(privateKey), placeOf(kid)).toString(
    'base64url',
  );

/** Returns undefined if it was encrypted under another secret. */
export function unwrapPrivateKey(
  secret: Buffer,
  kid: string,
  wrapped: string,
): KeyPair | undefined {
  try {
    const blob = Buffer.from(wrapped, 'base64url');
    return importKey(decrypt(createSecretKey(secret), blob, placeOf(kid)).toString());
  } catch (error) {
    if (error instanceof Tampered) return undefined;
    throw error;
  }
}

const placeOf = (kid: string) => ['jwk', kid];
