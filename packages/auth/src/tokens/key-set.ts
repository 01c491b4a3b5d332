import type { KeyObject } from 'node:crypto';
import type { Clock } from '@cardea/runtime';
import { importPublicJwk } from './signing-key.ts';

/** The minimum time between two fetches of the set because of an unknown key. */
const REFETCH_MS = 30_000;
/** A set of this age is fetched again in the background, so that removed keys disappear without a notice. */
const FRESH_MS = 300_000;
/** A set that could not be renewed for this long is no longer trusted. */
const KEPT_MS = 12 * 3_600_000;
/** The number of times that one lookup may fetch the keys while they keep changing. */
const FETCHES_MAX = 20;
/** The maximum number of keys. The newest are kept, which are last in the set. */
const KEYS_MAX = 100;

export type JwkSet = { readonly keys: readonly object[] };

/** The public keys of the deployment, cached in the process. */
export interface KeySet {
  /** Reads the cache without a round trip. Undefined if the key is not cached. */
  held(kid: string): KeyObject | undefined;
  /** Fetches if nothing is cached, or if the last fetch is long enough ago. Throws when there is no key set at all. */
  find(kid: string): Promise<KeyObject | undefined>;
  /** Makes the next lookup fetch again. */
  drop(): void;
}

export function keySet(jwks: () => Promise<JwkSet>, clock: Clock): KeySet {
  let keys: ReadonlyMap<string, KeyObject> | undefined;
  let fetchedMs = 0;
  let triedMs = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;
  let drops = 0;

  const fetchKeys = (): Promise<void> => {
    fetching ??= (async () => {
      const before = drops;
      triedMs = clock.monotonicMs();
      try {
        const fetched = keyMap(await jwks());
        if (before !== drops) return; // This response was requested before the keys changed, so it is discarded.
        keys = fetched;
        fetchedMs = clock.monotonicMs();
      } finally {
        fetching = undefined;
      }
    })();
    return fetching;
  };
  const ageMs = (): number => clock.monotonicMs() - fetchedMs;

  return {
    held: (kid) => {
      if (keys !== undefined && ageMs() > KEPT_MS) keys = undefined;
      const stale = keys !== undefined && ageMs() > FRESH_MS;
      if (stale && clock.monotonicMs() - triedMs > REFETCH_MS) fetchKeys().catch(() => {});
      return keys?.get(kid);
    },
    find: async (kid) => {
      if (keys === undefined) {
        // A fetch that started before the keys changed is outdated, and several changes may be announced in a row.
        for (let fetches = 0; keys === undefined && fetches < FETCHES_MAX; fetches += 1) {
          await fetchKeys();
        }
      } else if (clock.monotonicMs() - triedMs > REFETCH_MS) {
        await fetchKeys().catch(() => {});
      } else if (fetching !== undefined) {
        await fetching.catch(() => {});
      }
      return keys?.get(kid);
    },
    drop: () => {
      keys = undefined;
      drops += 1;
    },
  };
}

function keyMap({ keys }: JwkSet): ReadonlyMap<string, KeyObject> {
  const found = keys.slice(-KEYS_MAX).flatMap((jwk) => importPublicJwk(jwk) ?? []);
  return new Map(found.map(({ kid, publicKey }) => [kid, publicKey]));
}
