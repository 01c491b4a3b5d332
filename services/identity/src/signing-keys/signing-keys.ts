/**
 * The key rings in use, one per algorithm. They are created at the first start and read again at intervals, and their
 * active keys sign.
 */

import {
  KEYS_CHANGED,
  type PublicJwk,
  type SignToken,
  signer,
  type TokenVerifier,
} from '@cardea/auth';
import type { DerivedKeys, Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import {
  type Cache,
  CacheUnavailable,
  type Clock,
  type Logger,
  metrics,
  writeOrDistrust,
} from '@cardea/runtime';
import {
  KEY_ALGORITHMS,
  type KeyAlgorithm,
  type KeyPair,
  type SigningJwk,
} from '../adapters/key-algorithms.ts';
import { clientSigner, type SignForClient } from './client-tokens.ts';
import { activeKey, type Keyring, type KeyringKey, published } from './keyring.ts';
import {
  announcedKey,
  type KeyringTools,
  keptKeyring,
  keyringWithKey,
  keyringWithout,
  loadKeyring,
  promotedKey,
  resealedKeys,
  revokedKeys,
} from './keyring-changes.ts';
import { type OpenedKey, privateHalves } from './private-halves.ts';

export type SigningKeys = {
  /** Creates or finds the active keys, and subscribes to changes. It runs before the first token is signed. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Whether a change was announced and the rings could not be read since. */
  readonly isOld: () => boolean;
  /** Reads the rings again, because other replicas may have changed them. */
  readonly refresh: () => Promise<void>;
  /** Performs what is due by the keys' age. Any replica may do it at any time; only one of them appends. */
  readonly keepSchedule: () => Promise<void>;
  /** The keys of all algorithms. */
  readonly ring: () => Promise<Keyring>;
  /** Adds a key to each ring. It is published but signs nothing yet. A ring with a pending key keeps that one. */
  readonly announce: (
    activateAt: Date,
    command?: Command,
    algorithms?: readonly KeyAlgorithm[],
  ) => Promise<readonly AnnouncedKey[]>;
  /** Makes the announced keys sign. Returns false if another key was promoted in one of their rings. */
  readonly promote: (keys: readonly AnnouncedKey[], command?: Command) => Promise<boolean>;
  /** Adds a new key for each algorithm, which signs at once, and removes all others of that algorithm. */
  readonly revoke: (command?: Command, algorithms?: readonly KeyAlgorithm[]) => Promise<Revoked>;
  /** Encrypts keys that still sign under the previous JWT_SECRET again, under the current one. */
  readonly reseal: () => Promise<number>;
  /** Which JWT_SECRET encrypts each key of a ring. */
  readonly sealedUnder: (key: KeyringKey) => Promise<OpenedKey['under']>;
  /** Signs Cardea's own tokens with EdDSA. */
  readonly sign: SignToken;
  readonly signForClient: SignForClient;
  /** The active key of each algorithm, then retired keys, which verify an `id_token_hint` while they are published. */
  readonly keys: () => readonly KeyPair[];
  /** The keys that verify Cardea's own tokens, all EdDSA. */
  readonly jwks: () => PublicKeys;
  /** The keys of all algorithms, which verify tokens for clients. */
  readonly clientJwks: () => ClientPublicKeys;
  /**
   * Reads the public keys from the log, so that a process that was notified of a removal does not get the removed key
   * again. While the log is unreachable it returns the last keys read, unless a change was announced since.
   */
  readonly latestJwks: () => Promise<PublicKeys>;
};

export type AnnouncedKey = { readonly algorithm: KeyAlgorithm; readonly kid: string };
export type PublicKeys = { readonly keys: readonly PublicJwk[] };
/** An OKP key has no `alg` here, so that it verifies under both names of its algorithm (RFC 9864). */
export type ClientPublicKeys = {
  readonly keys: readonly (Exclude<SigningJwk, PublicJwk> | Omit<PublicJwk, 'alg'>)[];
};
export type Revoked = {
  /** The new key of the first algorithm. */
  readonly kid: string;
  readonly removed: readonly string[];
  /** False if the cache was unreachable. Other processes are then notified later. */
  readonly told: boolean;
};

type Dependencies = Omit<KeyringTools, 'algorithm' | 'halves'> & {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now'>;
  readonly cache: Pick<Cache, 'distrust' | 'publish' | 'subscribe'>;
  readonly kek: DerivedKeys;
  /** The verifier of this process. */
  readonly verifier?: Pick<TokenVerifier, 'signedHere'>;
};
/** The decrypted keys of one algorithm, the active one first, and the published part of the ring. */
type RingInUse = {
  readonly key: KeyPair;
  readonly keys: readonly KeyPair[];
  readonly published: readonly SigningJwk[];
};
type InUse = { readonly [Algorithm in KeyAlgorithm]: RingInUse };

export function signingKeys(needs: Dependencies): SigningKeys {
  const { cache, log } = needs;
  const halves = privateHalves(needs);
  const toolsOf = (algorithm: KeyAlgorithm): KeyringTools => ({ ...needs, halves, algorithm });
  const changes = ringChanges(needs, toolsOf);
  let inUse: InUse | undefined;
  let heard = 0;
  let heeded = 0;
  let deaf: (() => Promise<void>) | undefined;

  const current = (): InUse => {
    if (inUse === undefined) throw new Error('the signing keys were not started');
    return inUse;
  };
  const read = async (load: (tools: KeyringTools) => Promise<Keyring>): Promise<void> => {
    const [EdDSA, RS256, ES256] = await Promise.all([
      usedRing(toolsOf('EdDSA'), log, { load, known: inUse?.EdDSA.keys ?? [] }),
      usedRing(toolsOf('RS256'), log, { load, known: inUse?.RS256.keys ?? [] }),
      usedRing(toolsOf('ES256'), log, { load, known: inUse?.ES256.keys ?? [] }),
    ]);
    inUse = { EdDSA, RS256, ES256 };
  };
  const refresh = async (): Promise<void> => {
    const before = heard;
    await read(loadKeyring);
    heeded = before;
  };
  // If the rings cannot be read now, the loop that reads them at intervals tries again.
  const hear = (): void => {
    heard += 1;
    refresh().catch(() => {});
  };
  const jwks = (): PublicKeys => ({ keys: current().EdDSA.published.filter(isEdDsa) });
  const everyRing = (): readonly RingInUse[] => KEY_ALGORITHMS.map((each) => current()[each]);

  return {
    start: async () => {
      await read(keyringWithKey);
      await changes.reseal();
      deaf = await cache.subscribe(KEYS_CHANGED, hear, { lost: () => {}, healed: hear });
    },
    stop: async () => deaf?.(),
    isOld: () => heeded < heard,
    refresh,
    ...changes,
    sign: signer({ active: () => current().EdDSA.key }, needs.verifier?.signedHere),
    signForClient: clientSigner((algorithm) => current()[algorithm].key),
    keys: () => everyRing().flatMap(({ keys }) => keys),
    jwks,
    clientJwks: () => ({ keys: everyRing().flatMap((ring) => ring.published.map(withoutOkpAlg)) }),
    latestJwks: async () => {
      try {
        await refresh();
      } catch (error) {
        if (heeded < heard) throw error;
      }
      return jwks();
    },
  };
}

/** Changes of the rings. Any process may make them, whatever keys it has in use. */
function ringChanges(needs: Dependencies, toolsOf: (algorithm: KeyAlgorithm) => KeyringTools) {
  const ofEach = <T>(
    algorithms: readonly KeyAlgorithm[],
    work: (tools: KeyringTools) => Promise<T>,
  ): Promise<T[]> => Promise.all(algorithms.map((algorithm) => work(toolsOf(algorithm))));
  const tell = () => tellOthers(needs);
  return {
    keepSchedule: async () => {
      // The failure of one ring does not stop the others.
      const done = await Promise.allSettled(
        KEY_ALGORITHMS.map((each) => keptKeyring(toolsOf(each))),
      );
      const failed = done.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      if (done.some((each) => each.status === 'fulfilled' && each.value)) await tell();
    },
    ring: async () => ({
      keys: (await ofEach(KEY_ALGORITHMS, loadKeyring)).flatMap(({ keys }) => keys),
    }),
    announce: async (activateAt, command, algorithms = KEY_ALGORITHMS) => {
      const announced = await ofEach(algorithms, async (tools) => ({
        algorithm: tools.algorithm,
        kid: await announcedKey(tools, activateAt, command),
      }));
      await tell();
      return announced;
    },
    promote: async (keys, command) => {
      const promoted = await Promise.all(
        keys.map(({ algorithm, kid }) => promotedKey(toolsOf(algorithm), kid, command)),
      );
      await tell();
      return promoted.every(Boolean);
    },
    revoke: async (command, algorithms = KEY_ALGORITHMS) => {
      const revoked = await ofEach(algorithms, async (tools) => {
        const key = await tools.halves.fresh(tools.algorithm);
        return { kid: key.kid, removed: await revokedKeys(tools, key, command) };
      });
      const [{ kid } = { kid: '' }] = revoked;
      return { kid, removed: revoked.flatMap(({ removed }) => removed), told: await tell() };
    },
    reseal: async () =>
      (await ofEach(KEY_ALGORITHMS, resealedKeys)).reduce((sum, count) => sum + count, 0),
    sealedUnder: async (key) => (await toolsOf(key.publicJwk.alg).halves.open(key)).under,
  } satisfies Partial<SigningKeys>;
}

const isEdDsa = (jwk: SigningJwk): jwk is PublicJwk => jwk.alg === 'EdDSA';

function withoutOkpAlg(jwk: SigningJwk) {
  if (!isEdDsa(jwk)) return jwk;
  const { alg: _alg, ...rest } = jwk;
  return rest;
}

/** Decrypts the keys of a ring, except known pairs. An unreadable active key is replaced. */
async function usedRing(
  tools: KeyringTools,
  log: Logger,
  of: {
    readonly load: (tools: KeyringTools) => Promise<Keyring>;
    readonly known: readonly KeyPair[];
  },
): Promise<RingInUse> {
  const ring = await of.load(tools);
  const active = activeKey(ring);
  if (active === undefined) throw new Error('the key ring has no active key');
  const [key] = await tools.halves.openAll([active], of.known);
  if (key === undefined) {
    metrics.signingKeysUnreadable.inc();
    log.error({ kid: active.kid }, 'a signing key cannot be read; another takes its place');
    return usedRing(tools, log, { ...of, load: () => keyringWithout(tools, active.kid) });
  }
  const retired = ring.keys.filter(({ state }) => state === 'retired');
  const keys = [key, ...(await tools.halves.openAll(retired, of.known))];
  return { key, keys, published: published(ring) };
}

/**
 * Notifies other processes at once, before the log is read. Verifiers then reject a removed key even if no identity
 * process runs.
 */
async function tellOthers({ cache, log }: Pick<Dependencies, 'cache' | 'log'>): Promise<boolean> {
  try {
    await writeOrDistrust(cache, () => cache.publish(KEYS_CHANGED, ''));
    return true;
  } catch (error) {
    if (!(error instanceof CacheUnavailable)) throw error;
    log.warn({}, 'the cache is away; that the signing keys changed is told later');
    return false;
  }
}
