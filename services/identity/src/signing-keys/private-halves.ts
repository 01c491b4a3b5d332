/**
 * The private part of a signing key, encrypted twice: by the deployment's secret, then under a key of its own. Erasing
 * that key makes it unreadable in the log and in all copies of the log.
 */

import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import { type DerivedKeys, neverErased, type Sealed, type Sealer } from '@cardea/crypto';
import {
  generateKey,
  type KeyAlgorithm,
  type KeyPair,
  publicKeyOf,
} from '../adapters/key-algorithms.ts';
import { unwrapPrivateKey, wrapPrivateKey } from '../adapters/wrapped-key.ts';
import { keyField } from '../streams/encrypted-fields.ts';
import type { KeyringKey, NewKey } from './keyring.ts';

export type PrivateHalves = {
  readonly fresh: (algorithm: KeyAlgorithm) => Promise<NewKey>;
  readonly seal: (pair: KeyPair) => Promise<Sealed | 'erased'>;
  readonly open: (key: KeyringKey) => Promise<OpenedKey>;
  /** Returns the keys that can be decrypted. Known pairs are not decrypted again. */
  readonly openAll: (
    keys: readonly KeyringKey[],
    known: readonly KeyPair[],
  ) => Promise<readonly KeyPair[]>;
  /** Discards the private part of a key that was not added to the ring. */
  readonly discard: (kid: string) => Promise<void>;
};

/** The JWT_SECRET that encrypts the key. `unreadable` means that none does, or that the key's own key was erased. */
export type OpenedKey =
  | { readonly under: 'current' | 'previous'; readonly pair: KeyPair }
  | { readonly under: 'unreadable' };

export function privateHalves(needs: {
  readonly sealer: Pick<Sealer, 'seal' | 'open' | 'erase'>;
  readonly kek: DerivedKeys;
}): PrivateHalves {
  const { sealer, kek } = needs;
  const seal: PrivateHalves['seal'] = (pair) =>
    sealer.seal(DEPLOYMENT_TENANT, keyField(pair.kid), wrapPrivateKey(kek.current, pair));
  const open: PrivateHalves['open'] = async (key) => {
    const wrapped = await sealer.open(key.private, keyField(key.kid));
    if (wrapped === null) return { under: 'unreadable' };
    for (const under of ['current', 'previous'] as const) {
      const secret = kek[under];
      const pair = secret && unwrapPrivateKey(secret, key.kid, wrapped);
      if (pair !== undefined) return { under, pair };
    }
    return { under: 'unreadable' };
  };
  return {
    seal,
    fresh: async (algorithm) => {
      const pair = await generateKey(algorithm);
      const { kid, privateKey } = pair;
      return { kid, publicJwk: publicKeyOf(privateKey), private: neverErased(await seal(pair)) };
    },
    open,
    openAll: async (keys, known) => {
      const pairs = keys.map(async (key) => {
        const same = known.find(({ kid }) => kid === key.kid);
        if (same !== undefined) return [same];
        const opened = await open(key);
        return opened.under === 'unreadable' ? [] : [opened.pair];
      });
      return (await Promise.all(pairs)).flat();
    },
    discard: (kid) => sealer.erase(keyField(kid).subject),
  };
}
