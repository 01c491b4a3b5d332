/** Writes revocations. In identity it also keeps the revocation list in the cache complete across outages. */
import { type Cache, CacheUnavailable, type Clock, inTurns } from '@cardea/runtime';
import {
  isTimed,
  type RefillRevocations,
  type Revocation,
  type RevocationKind,
} from '../principal.ts';
import type { Hearing } from './revocations-mirror.ts';
import { type Mirror, revocationKey } from './revocations-mirror.ts';
import { CHANNEL, GENERATION, KINDS, type Notice, writeNotice } from './revocations-notice.ts';

const IDS_PER_NOTICE = 500;
/**
 * The maximum number of pending removals. If there are more, the oldest are dropped. Their revocations then end later,
 * when they expire.
 */
const PENDING_REMOVALS_MAX = 10_000;

type Dependencies = { readonly cache: Cache; readonly clock: Clock; readonly ttlMs: number };
type Own = { readonly list: Mirror; readonly hearing: Hearing };

export function keeperOf(needs: Dependencies, { list, hearing }: Own) {
  const { cache, clock } = needs;
  let refill: RefillRevocations | undefined;
  /** Whether revocations could not be written to the cache, or removals could not be performed. */
  let writesPending = false;
  const pendingRemovals = new Map<string, Revocation>();
  /** Revocations that were withdrawn while the list was being read. The read may still contain them. */
  let removedMeanwhile: Set<string> | undefined;

  const { write, writeAll, erase } = writerOf(needs);
  const fillOnce = async (read: RefillRevocations): Promise<void> => {
    const [since, losses] = [list.now(), hearing.losses()];
    writesPending = false;
    const removed = new Set<string>();
    removedMeanwhile = removed;
    try {
      await eraseAll(pendingRemovals, erase);
      const all = await read();
      const current = all.filter(({ kind, id }) => !removed.has(revocationKey(kind, id)));
      for (const { kind, id, at } of current) list.add(kind, id, at);
      await writeAll(current);
      await cache.set(GENERATION, clock.now().toISOString());
    } catch (error) {
      writesPending = true;
      throw error;
    } finally {
      removedMeanwhile = undefined;
    }
    hearing.filled(since, losses);
  };
  const fill = inTurns(async () => {
    if (refill !== undefined) await fillOnce(refill);
  });
  const { distrust, settled } = distrustOf(cache);
  /**
   * The change itself is durable. Entries that the cache did not accept are written at a later check, and until then
   * processes ask identity. Returns false if they were not written.
   */
  const orRetryLater = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (refill === undefined) throw error;
      writesPending = true;
      unlessAway(error);
      await distrust();
      return false;
    }
  };
  return {
    isKept: () => refill !== undefined,
    settled,
    hasPendingWrites: () => writesPending || pendingRemovals.size > 0,
    fill,
    keepFilled: async (all: RefillRevocations): Promise<void> => {
      refill = all;
      // Runs before anything else, because an earlier process may have left revocations unwritten.
      await fill().catch(unlessAway);
    },
    add: async (kind: RevocationKind, ids: readonly string[], at?: number): Promise<void> => {
      // This process's copy comes first, so that it is right whatever happens to the cache.
      for (const id of ids) {
        list.add(kind, id, at);
        pendingRemovals.delete(revocationKey(kind, id));
        removedMeanwhile?.delete(revocationKey(kind, id));
      }
      await orRetryLater(() => write(kind, revocationsOf(kind, ids, at)));
    },
    remove: async (kind: RevocationKind, ids: readonly string[]): Promise<void> => {
      for (const id of ids) {
        list.remove(kind, id);
        removedMeanwhile?.add(revocationKey(kind, id));
      }
      for (const id of ids) keepPending(pendingRemovals, { kind, id });
      if (!(await orRetryLater(() => erase(kind, ids)))) return;
      for (const id of ids) pendingRemovals.delete(revocationKey(kind, id));
    },
    orRetryLater,
    heardRemoved: (kind: RevocationKind, ids: readonly string[]): void => {
      for (const id of ids) removedMeanwhile?.add(revocationKey(kind, id));
    },
    confirm: (names: readonly string[]): void => {
      if (refill === undefined) return;
      // This fill starts after the request, so it includes everything. A process without an answer asks again.
      fill()
        .then(() => cache.publish(CHANNEL, writeNotice({ word: '!', names })))
        .catch(() => {});
    },
  };
}

/**
 * Tells other processes to distrust the cache. A failed announcement stays pending; `settled` repeats it, and throws if
 * it fails again.
 */
function distrustOf(cache: Pick<Cache, 'distrust'>) {
  let untold = false;
  const distrust = async (): Promise<void> => {
    untold = true;
    await cache.distrust();
    untold = false;
  };
  const settled = async (): Promise<void> => {
    if (untold) await distrust();
  };
  return { distrust, settled };
}

const revocationsOf = (
  kind: RevocationKind,
  ids: readonly string[],
  at?: number,
): readonly Revocation[] => ids.map((id) => (at === undefined ? { kind, id } : { kind, id, at }));

async function eraseAll(
  removals: Map<string, Revocation>,
  erase: (kind: RevocationKind, ids: readonly string[]) => Promise<void>,
): Promise<void> {
  for (const [key, { kind, id }] of [...removals]) {
    await erase(kind, [id]);
    removals.delete(key);
  }
}

function keepPending(removals: Map<string, Revocation>, revocation: Revocation): void {
  removals.set(revocationKey(revocation.kind, revocation.id), revocation);
  const [oldest] = removals.keys();
  if (removals.size > PENDING_REMOVALS_MAX && oldest !== undefined) removals.delete(oldest);
}

/** Each change is written to the cache first, then published. */
function writerOf({ cache, ttlMs }: Dependencies) {
  type Change = Extract<Notice, { readonly kind: RevocationKind }>;
  const announce = async (notice: Change): Promise<void> => {
    for (const ids of chunks(notice.ids)) {
      await cache.publish(CHANNEL, writeNotice({ ...notice, ids }));
    }
  };
  const writeTimed = async ({ kind, id, at = 0 }: Revocation): Promise<void> => {
    // Another process may have written a later entry since this one was read.
    await cache.raise(revocationKey(kind, id), BigInt(at), ttlMs);
    await announce({ word: '+', kind, ids: [id], at });
  };
  const write = async (kind: RevocationKind, all: readonly Revocation[]): Promise<void> => {
    if (isTimed(kind)) {
      for (const revocation of all) await writeTimed(revocation);
      return;
    }
    const ids = all.map(({ id }) => id);
    for (const some of chunks(ids)) {
      await cache.setMany(some.map((id) => ({ key: revocationKey(kind, id), value: '1', ttlMs })));
    }
    await announce({ word: '+', kind, ids });
  };
  const writeAll = async (list: readonly Revocation[]): Promise<void> => {
    for (const kind of KINDS) {
      await write(
        kind,
        list.filter((revocation) => revocation.kind === kind),
      );
    }
  };
  const erase = async (kind: RevocationKind, ids: readonly string[]): Promise<void> => {
    for (const id of ids) await cache.delete(revocationKey(kind, id));
    await announce({ word: '-', kind, ids });
  };
  return { write, writeAll, erase };
}

export const unlessAway = (error: unknown): void => {
  if (!(error instanceof CacheUnavailable)) throw error;
};

function chunks<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let from = 0; from < all.length; from += IDS_PER_NOTICE) {
    parts.push(all.slice(from, from + IDS_PER_NOTICE));
  }
  return parts;
}
