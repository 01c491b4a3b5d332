import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { CLIENT_ALGORITHMS } from '../adapters/client-algorithms.ts';
import { generateKey, importKey, publicKeyOf } from '../adapters/key-algorithms.ts';
import { unwrapPrivateKey, wrapPrivateKey } from '../adapters/wrapped-key.ts';
import { clientSigner } from './client-tokens.ts';

const pairs = {
  EdDSA: await generateKey('EdDSA'),
  RS256: await generateKey('RS256'),
  ES256: await generateKey('ES256'),
};
const sign = clientSigner((algorithm) => pairs[algorithm]);

describe('a token for a client', () => {
  it.each(CLIENT_ALGORITHMS)(
    'that asks for %s verifies with the published key [oauth 27]',
    async (alg) => {
      const keys = Object.values(pairs).map(({ privateKey }) => {
        const { alg: name, ...jwk } = publicKeyOf(privateKey);
        return name === 'EdDSA' ? jwk : { ...jwk, alg: name };
      });
      const token = sign(alg, 'JWT', { sub: 'ann', aud: 'client' });
      const set = createLocalJWKSet({ keys } as JSONWebKeySet);
      const { payload, protectedHeader } = await jwtVerify(token, set, { algorithms: [alg] });
      expect(payload).toEqual({ sub: 'ann', aud: 'client' });
      const { kid } = pairs[alg === 'Ed25519' ? 'EdDSA' : alg];
      expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid });
    },
  );

  it.each(Object.values(pairs))(
    'comes from a key that is read back under its secret alone: $algorithm',
    (pair) => {
      const [secret, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
      const wrapped = wrapPrivateKey(secret, pair);
      const back = unwrapPrivateKey(secret, pair.kid, wrapped);
      expect(back).toMatchObject({ kid: pair.kid, algorithm: pair.algorithm });
      expect(back?.privateKey.equals(pair.privateKey)).toBe(true);
      expect(unwrapPrivateKey(other, pair.kid, wrapped)).toBeUndefined();
    },
  );

  it('never comes from a key of another type', () => {
    expect(() => importKey('')).toThrow();
  });
});
