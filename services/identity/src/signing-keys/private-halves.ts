/**
 * The private half of a signing key, encrypted twice: by the deployment's secret, then under a key of its
 * own, whose erasure makes it unreadable in the log and in all copies of the log.
 */

import { generateSigningKey, publicJwk, type SigningKey } from '@cardea/auth';
import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import { type DerivedKeys, neverErased, type Sealed, type Sealer } from '@cardea/crypto';
import { unwrapPrivateKey, wrapPrivateKey } from '../adapters/wrapped-key.ts';
import { keyField } from '../streams/encrypted-fields.ts';
import type { KeyringKey, NewKey } from './keyring.ts';

export type PrivateHalves = {
  readonly fresh: () => Promise<NewKey>;
  readonly seal: (pair: SigningKey) => Promise<Sealed | 'erased'>;
  readonly open: (key: KeyringKey) => Promise<OpenedKey>;
  /** Discards the private half of a key that was not added to the ring. */
  readonly discard: (kid: string) => Promise<void>;
};

/** Which JWT_SECRET encrypts it; `unreadable`: neither, or its own key was erased. */
export type OpenedKey =
  | { readonly under: 'current' | 'previous'; readonly pair: SigningKey }
  | { readonly under: 'unreadable' };

export function privateHalves(needs: {
  readonly sealer: Pick<Sealer, 'seal' | 'open' | 'erase'>;
  readonly kek: DerivedKeys;
}): PrivateHalves {
  const { sealer, kek } = needs;
  const seal: PrivateHalves['seal'] = (pair) =>
    sealer.seal(DEPLOYMENT_TENANT, keyField(pair.kid), wrapPrivateKey(kek.current, pair));
  return {
    seal,
    fresh: async () => {
      const pair = generateSigningKey();
      const { kid, privateKey } = pair;
      return { kid, publicJwk: publicJwk(privateKey), private: neverErased(await seal(pair)) };
    },
    open: async (key) => {
      const wrapped = await sealer.open(key.private, keyField(key.kid));
      if (wrapped === null) return { under: 'unreadable' };
      for (const under of ['current', 'previous'] as const) {
        const secret = kek[under];
        const pair = secret && unwrapPrivateKey(secret, key.kid, wrapped);
        if (pair !== undefined) return { under, pair };
      }
      return { under: 'unreadable' };
    },
    discard: (kid) => sealer.erase(keyField(kid).subject),
  };
}
