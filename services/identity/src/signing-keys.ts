/** The ring at work: made on the first start, read again now and then, signing with its active key. */
import {
  generateSigningKey,
  KEYS_CHANGED,
  type PublicJwk,
  publicJwk,
  type SigningKey,
  type SignToken,
  signer,
} from '@cardea/auth';
import type { DerivedKeys, Sealer } from '@cardea/crypto';
import { accept, type Command, refuse, type Streams } from '@cardea/event-store';
import { type Cache, CacheUnavailable, type Logger } from '@cardea/runtime';
import { unwrapPrivateKey, wrapPrivateKey } from './adapters/wrapped-key.ts';
import {
  activeKey,
  addFirstKey,
  KEYRING,
  type Keyring,
  keyrings,
  type NewKey,
  published,
  type RingKey,
  replaceKey,
} from './keyring/keyring.ts';
import { revokeOthers } from './keyring/revoke/revoke.ts';
import { announceKey, promoteKey } from './keyring/rotate/rotate.ts';
import { keyPlace } from './seals.ts';
import { DEPLOYMENT } from './workspaces.ts';

export type SigningKeys = {
  /** Makes or finds the active key, and hears of changes. Before the first token is signed. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** A change was heard of, and the ring could not be read since. */
  readonly isOld: () => boolean;
  /** Reads the ring again, for what other replicas did to it. */
  readonly refresh: () => Promise<void>;
  readonly ring: () => Promise<Keyring>;
  /** Adds a key that everybody can fetch and that signs nothing yet; answers its id, or that of one that waits already. */
  readonly announce: (activateAt: Date) => Promise<string>;
  /** The announced key signs from now on; false when another process was faster. */
  readonly promote: (kid: string) => Promise<boolean>;
  /** A new key signs at once, and all others are gone; answers its id and theirs. */
  readonly revoke: () => Promise<Revoked>;
  readonly sign: SignToken;
  readonly jwks: () => PublicKeys;
  /**
   * As the log has them now, so that nobody who was told of a removed key is given it again. While the log
   * is away: those read last, unless a change was heard of.
   */
  readonly latestJwks: () => Promise<PublicKeys>;
};

export type PublicKeys = { readonly keys: readonly PublicJwk[] };
export type Revoked = {
  readonly kid: string;
  readonly removed: readonly string[];
  /** False: the cache was away, and who holds the old keys is told later. */
  readonly told: boolean;
};

type Needs = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly cache: Pick<Cache, 'publish' | 'subscribe'>;
  readonly kek: DerivedKeys;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

type InUse = { readonly key: SigningKey; readonly jwks: readonly PublicJwk[] };

export function signingKeys(needs: Needs): SigningKeys {
  const { streams, cache } = needs;
  let inUse: InUse | undefined;
  let heard = 0;
  let heeded = 0;
  let deaf: (() => Promise<void>) | undefined;

  const load = async (): Promise<Keyring> => {
    const { state } = await streams.load(keyrings, { tenantId: DEPLOYMENT, id: KEYRING });
    return state;
  };

  const put = async (ring: Keyring): Promise<void> => {
    const active = activeKey(ring);
    if (active === undefined) throw new Error('the key ring has no active key');
    if (inUse?.key.kid === active.kid) {
      inUse = { ...inUse, jwks: published(ring) };
      return;
    }
    const key = await opened(needs, active);
    if (key === undefined) {
      needs.log.error({ kid: active.kid }, 'a signing key cannot be read; another takes its place');
      await put(await replaced(needs, active.kid));
      return;
    }
    inUse = { key, jwks: published(ring) };
  };

  const refresh = async (): Promise<void> => {
    const before = heard;
    await put(await load());
    heeded = before;
  };
  // What cannot be read now, the loop that reads the ring now and then tries again.
  const hear = (): void => {
    heard += 1;
    refresh().catch(() => {});
  };
  const jwks = (): PublicKeys => ({ keys: current().jwks });

  const current = (): InUse => {
    if (inUse === undefined) throw new Error('the signing keys were not started');
    return inUse;
  };

  return {
    start: async () => {
      const ring = await load();
      await put(activeKey(ring) === undefined ? await withFirstKey(needs) : ring);
      deaf = await cache.subscribe(KEYS_CHANGED, hear, { lost: () => {}, healed: hear });
    },
    stop: async () => deaf?.(),
    isOld: () => heeded < heard,
    refresh,
    ring: load,
    announce: async (activateAt) => {
      const waiting = (await load()).keys.find(({ state }) => state === 'pending');
      const kid = waiting?.kid ?? (await announced(needs, activateAt));
      await tellOthers(needs);
      return kid;
    },
    promote: async (kid) => {
      const command = needs.systemCommand(DEPLOYMENT, 'promote key', kid);
      const decided = await streams.decideOn(keyrings, KEYRING, command, (ring) =>
        promoteKey(kid, command.now, ring),
      );
      if (decided.accepted) await tellOthers(needs);
      return decided.accepted;
    },
    revoke: () => revoked(needs),
    sign: signer({ active: () => current().key }),
    jwks,
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

/** At once, and not only when the log is read: also where no identity runs, nobody believes a removed key. */
async function tellOthers({ cache, log }: Needs): Promise<boolean> {
  try {
    await cache.publish(KEYS_CHANGED, '');
    return true;
  } catch (error) {
    if (!(error instanceof CacheUnavailable)) throw error;
    log.warn({}, 'the cache is away; that the signing keys changed is told later');
    return false;
  }
}

async function revoked(needs: Needs): Promise<Revoked> {
  const key = await freshKey(needs);
  const command = needs.systemCommand(DEPLOYMENT, 'revoke keys', key.kid);
  const decided = await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    revokeOthers(key, command.now, ring),
  );
  if (!decided.accepted) throw new Error('the key ring has no active key');
  const removed = decided.events.flatMap(({ type, data }) =>
    type === 'KeyRemoved' ? [data.kid] : [],
  );
  return { kid: key.kid, removed, told: await tellOthers(needs) };
}

async function withFirstKey(needs: Needs): Promise<Keyring> {
  const key = await freshKey(needs);
  const command = needs.systemCommand(DEPLOYMENT, 'first key', key.kid);
  const decided = await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    addFirstKey(key, command.now, ring),
  );
  return decided.state;
}

async function replaced(needs: Needs, lostKid: string): Promise<Keyring> {
  const key = await freshKey(needs);
  const command = needs.systemCommand(DEPLOYMENT, 'replace key', lostKid, key.kid);
  const decided = await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    replaceKey(lostKid, key, command.now, ring),
  );
  return decided.state;
}

async function announced(needs: Needs, activateAt: Date): Promise<string> {
  const key = await freshKey(needs);
  const command = needs.systemCommand(DEPLOYMENT, 'announce key', key.kid);
  const decided = await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    announceKey(key, activateAt, ring),
  );
  const waiting = decided.state.keys.find(({ state }) => state === 'pending');
  if (waiting === undefined) throw new Error('the key ring takes no key');
  return waiting.kid;
}

const freshKey = (needs: Needs): Promise<NewKey> => sealedKey(needs, generateSigningKey());

/** Sealed twice: by the deployment's secret, then under a row whose deletion erases it from the log. */
async function sealedKey({ kek, sealer }: Needs, pair: SigningKey): Promise<NewKey> {
  const wrapped = wrapPrivateKey(kek.current, pair);
  return {
    kid: pair.kid,
    publicJwk: publicJwk(pair.privateKey),
    private: await sealer.seal(DEPLOYMENT, keyPlace(pair.kid), wrapped),
  };
}

/** Under the previous secret it is read, and sealed again under the current one. */
async function opened(needs: Needs, key: RingKey): Promise<SigningKey | undefined> {
  const { sealer, kek } = needs;
  const wrapped = await sealer.open(key.private, keyPlace(key.kid));
  if (wrapped === null) return undefined;
  const readable = unwrapPrivateKey(kek.current, key.kid, wrapped);
  if (readable !== undefined || kek.previous === undefined) return readable;
  const old = unwrapPrivateKey(kek.previous, key.kid, wrapped);
  if (old !== undefined) await reseal(needs, old);
  return old;
}

async function reseal(needs: Needs, pair: SigningKey): Promise<void> {
  const { kid } = pair;
  const { private: sealed } = await sealedKey(needs, pair);
  const command = needs.systemCommand(DEPLOYMENT, 'reseal key', kid, sealed.box);
  await needs.streams.decideOn(keyrings, KEYRING, command, (ring) =>
    activeKey(ring)?.kid === kid
      ? accept({ type: 'KeyResealed', data: { kid, private: sealed } })
      : refuse('not_active'),
  );
}
