/**
 * The key ring in use: created at the first start, read again at intervals, signing with its active key.
 */

import {
  KEYS_CHANGED,
  type PublicJwk,
  type SigningKey,
  type SignToken,
  signer,
  type TokenVerifier,
} from '@cardea/auth';
import { DEPLOYMENT_TENANT } from '@cardea/contracts';
import type { DerivedKeys, Sealer } from '@cardea/crypto';
import { accept, type Command, type Decision, refuse, type Streams } from '@cardea/event-store';
import {
  type Cache,
  CacheUnavailable,
  type Clock,
  type Logger,
  metrics,
  uuidFrom,
} from '@cardea/runtime';
import {
  activeKey,
  addFirstKey,
  KEYRING,
  type Keyring,
  type KeyringEvent,
  type KeyringKey,
  keyrings,
  pendingKey,
  published,
  replaceKey,
} from './keyring.ts';
import { type OpenedKey, type PrivateHalves, privateHalves } from './private-halves.ts';
import { revokeOthers } from './revoke/revoke.ts';
import { announceKey, promoteKey } from './rotate/rotate.ts';
import { isAnnouncementDue, keepSchedule } from './rotate/schedule.ts';

export type SigningKeys = {
  /** Creates or finds the active key, and subscribes to changes. Runs before the first token is signed. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** A change was announced, and the ring could not be read since. */
  readonly isOld: () => boolean;
  /** Reads the ring again, because other replicas may have changed it. */
  readonly refresh: () => Promise<void>;
  /** Does what is due by the keys' age. Any replica may, at any time; only one of them appends. */
  readonly keepSchedule: () => Promise<void>;
  readonly ring: () => Promise<Keyring>;
  /**
   * Adds a key that everybody can fetch and that signs nothing yet; returns its id, or that of a pending
   * one.
   */
  readonly announce: (activateAt: Date, command?: Command) => Promise<string>;
  /** The announced key signs from now on; false if another key was promoted. */
  readonly promote: (kid: string, command?: Command) => Promise<boolean>;
  /** A new key signs at once, and all others are removed; returns its id and theirs. */
  readonly revoke: (command?: Command) => Promise<Revoked>;
  /** Encrypts keys that still sign under the previous JWT_SECRET again under the current one. */
  readonly reseal: () => Promise<number>;
  /** Which JWT_SECRET encrypts each key of the ring. */
  readonly sealedUnder: (key: KeyringKey) => Promise<OpenedKey['under']>;
  readonly sign: SignToken;
  readonly active: () => SigningKey;
  readonly jwks: () => PublicKeys;
  /**
   * As the log has them now, so that nobody who was notified of a removal gets the removed key again. While
   * the log is unreachable: those read last, unless a change was announced since.
   */
  readonly latestJwks: () => Promise<PublicKeys>;
};

export type PublicKeys = { readonly keys: readonly PublicJwk[] };
export type Revoked = {
  readonly kid: string;
  readonly removed: readonly string[];
  /** False: the cache was unreachable, and other processes are notified later. */
  readonly told: boolean;
};

type Dependencies = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now'>;
  readonly cache: Pick<Cache, 'publish' | 'subscribe'>;
  readonly kek: DerivedKeys;
  /** Of this process. */
  readonly verifier?: Pick<TokenVerifier, 'signedHere'>;
  readonly rotateAfterMs: number;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};
type Tools = Dependencies & { readonly halves: PrivateHalves };
type InUse = { readonly key: SigningKey; readonly jwks: readonly PublicJwk[] };

export function signingKeys(needs: Dependencies): SigningKeys {
  const { cache } = needs;
  const tools = { ...needs, halves: privateHalves(needs) };
  let inUse: InUse | undefined;
  let heard = 0;
  let heeded = 0;
  let deaf: (() => Promise<void>) | undefined;

  const put = async (ring: Keyring): Promise<void> => {
    const active = activeKey(ring);
    if (active === undefined) throw new Error('the key ring has no active key');
    if (inUse?.key.kid === active.kid) {
      inUse = { ...inUse, jwks: published(ring) };
      return;
    }
    const opened = await tools.halves.open(active);
    if (opened.under === 'unreadable') {
      metrics.signingKeysUnreadable.inc();
      needs.log.error({ kid: active.kid }, 'a signing key cannot be read; another takes its place');
      await put(await replaced(tools, active.kid));
      return;
    }
    inUse = { key: opened.pair, jwks: published(ring) };
  };

  const refresh = async (): Promise<void> => {
    const before = heard;
    await put(await load(tools));
    heeded = before;
  };
  // If it cannot be read now, the loop that reads the ring at intervals tries again.
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
      const ring = await load(tools);
      await put(activeKey(ring) === undefined ? await withFirstKey(tools) : ring);
      await reseal(tools);
      deaf = await cache.subscribe(KEYS_CHANGED, hear, { lost: () => {}, healed: hear });
    },
    stop: async () => deaf?.(),
    isOld: () => heeded < heard,
    refresh,
    keepSchedule: () => kept(tools),
    ring: () => load(tools),
    announce: (activateAt, command) => announced(tools, activateAt, command),
    promote: (kid, command) => promoted(tools, kid, command),
    revoke: (command) => revoked(tools, command),
    reseal: () => reseal(tools),
    sealedUnder: async (key) => (await tools.halves.open(key)).under,
    sign: signer({ active: () => current().key }, needs.verifier?.signedHere),
    active: () => current().key,
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

async function load({ streams }: Tools): Promise<Keyring> {
  const { state } = await streams.load(keyrings, { tenantId: DEPLOYMENT_TENANT, id: KEYRING });
  return state;
}

/**
 * Each append names the revision that it was decided on: one of two replicas appends, the other decides
 * again.
 */
const decide = <Reason extends string>(
  { streams }: Tools,
  command: Command,
  decision: (ring: Keyring) => Decision<KeyringEvent, Reason>,
) => streams.decideOn(keyrings, KEYRING, command, decision);

/** The command of a request, or the service's own; its id differs from others of the same request. */
const own = (
  { systemCommand }: Tools,
  command: Command | undefined,
  ...parts: string[]
): Command =>
  command === undefined
    ? systemCommand(DEPLOYMENT_TENANT, ...parts)
    : { ...command, id: uuidFrom(command.id, ...parts) };

/**
 * Notifies at once, not only when the log is read: verifiers reject a removed key even if no identity runs.
 */
async function tellOthers({ cache, log }: Tools): Promise<boolean> {
  try {
    await cache.publish(KEYS_CHANGED, '');
    return true;
  } catch (error) {
    if (!(error instanceof CacheUnavailable)) throw error;
    log.warn({}, 'the cache is away; that the signing keys changed is told later');
    return false;
  }
}

async function kept(tools: Tools): Promise<void> {
  const { clock, rotateAfterMs, halves } = tools;
  const schedule = { now: clock.now(), rotateAfterMs };
  const ring = await load(tools);
  const next = isAnnouncementDue(ring, schedule) ? await halves.fresh() : undefined;
  if (!keepSchedule(next, schedule, ring).accepted) return;
  const command = own(tools, undefined, 'schedule', next?.kid ?? '', schedule.now.toISOString());
  const decided = await decide(tools, command, (now) => keepSchedule(next, schedule, now));
  if (next !== undefined && !holds(decided.state, next.kid)) await halves.discard(next.kid);
  if (decided.accepted) await tellOthers(tools);
}

const holds = ({ keys }: Keyring, kid: string): boolean => keys.some((key) => key.kid === kid);

async function announced(tools: Tools, activateAt: Date, command?: Command): Promise<string> {
  const kid =
    pendingKey(await load(tools))?.kid ?? (await newlyAnnounced(tools, activateAt, command));
  await tellOthers(tools);
  return kid;
}

async function newlyAnnounced(tools: Tools, activateAt: Date, of?: Command): Promise<string> {
  const key = await tools.halves.fresh();
  const command = own(tools, of, 'announce key', key.kid);
  const decided = await decide(tools, command, (ring) =>
    announceKey(key, { now: command.now, activateAt }, ring),
  );
  if (!holds(decided.state, key.kid)) await tools.halves.discard(key.kid);
  const waiting = pendingKey(decided.state);
  if (waiting === undefined) throw new Error('the key ring takes no key');
  return waiting.kid;
}

async function promoted(tools: Tools, kid: string, of?: Command): Promise<boolean> {
  const command = own(tools, of, 'promote key', kid);
  const decided = await decide(tools, command, (ring) => promoteKey(kid, command.now, ring));
  if (decided.accepted) await tellOthers(tools);
  // The schedule may have come first.
  return activeKey(decided.state)?.kid === kid;
}

async function revoked(tools: Tools, of?: Command): Promise<Revoked> {
  const key = await tools.halves.fresh();
  const command = own(tools, of, 'revoke keys', key.kid);
  const decided = await decide(tools, command, (ring) => revokeOthers(key, command.now, ring));
  if (!decided.accepted) throw new Error('the key ring has no active key');
  const removed = decided.events.flatMap(({ type, data }) =>
    type === 'KeyRemoved' ? [data.kid] : [],
  );
  return { kid: key.kid, removed, told: await tellOthers(tools) };
}

async function withFirstKey(tools: Tools): Promise<Keyring> {
  const key = await tools.halves.fresh();
  const command = own(tools, undefined, 'first key', key.kid);
  return (await decide(tools, command, (ring) => addFirstKey(key, command.now, ring))).state;
}

async function replaced(tools: Tools, lostKid: string): Promise<Keyring> {
  const key = await tools.halves.fresh();
  const command = own(tools, undefined, 'replace key', lostKid, key.kid);
  const decided = await decide(tools, command, (ring) =>
    replaceKey(lostKid, key, command.now, ring),
  );
  return decided.state;
}

/** Retired keys sign no more, so their private halves are not needed. */
async function reseal(tools: Tools): Promise<number> {
  let count = 0;
  for (const key of (await load(tools)).keys.filter(({ state }) => state !== 'retired')) {
    const opened = await tools.halves.open(key);
    if (opened.under !== 'previous') continue;
    const sealed = await tools.halves.seal(opened.pair);
    if (sealed === 'erased') continue; // removed meanwhile
    const command = own(tools, undefined, 'reseal key', key.kid, sealed.box);
    await decide(tools, command, (ring) =>
      holds(ring, key.kid)
        ? accept({ type: 'KeyResealed', data: { kid: key.kid, private: sealed } })
        : refuse('removed'),
    );
    count += 1;
  }
  return count;
}
