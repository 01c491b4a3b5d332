/** Revokes, and, where identity runs, keeps the revocation list in the cache complete across outages. */
import { type Cache, CacheUnavailable, type Clock } from '@cardea/runtime';
import type { RefillRevocations, Revocation, RevocationKind } from './principal.ts';
import type { Hearing } from './revocations-hearing.ts';
import { type Mirror, revocationKey } from './revocations-mirror.ts';
import { CHANNEL, GENERATION, KINDS, type Notice, writeNotice } from './revocations-notice.ts';

const IDS_PER_NOTICE = 500;
/** Beyond it the oldest are dropped: what they revoke ends by itself, only later. */
const OWED_UNMARKS_MAX = 10_000;

type Dependencies = { readonly cache: Cache; readonly clock: Clock; readonly ttlMs: number };
type Own = { readonly marks: Mirror; readonly hearing: Hearing };

export function keeperOf(needs: Dependencies, { marks, hearing }: Own) {
  const { cache, clock } = needs;
  let refill: RefillRevocations | undefined;
  /** Marks that the cache did not take, and others that it did not give up. */
  let owed = false;
  const owedUnmarks = new Map<string, Revocation>();
  /** Withdrawn while the list is being read, which may have been too early to see it. */
  let unmarkedMeanwhile: Set<string> | undefined;

  const { write, writeAll, erase } = writerOf(needs);
  const fillOnce = async (read: RefillRevocations): Promise<void> => {
    const [since, losses] = [marks.now(), hearing.losses()];
    owed = false;
    const unmarked = new Set<string>();
    unmarkedMeanwhile = unmarked;
    try {
      for (const [key, { kind, id }] of [...owedUnmarks]) {
        await erase(kind, [id]);
        owedUnmarks.delete(key);
      }
      const all = await read();
      const standing = all.filter(({ kind, id }) => !unmarked.has(revocationKey(kind, id)));
      for (const { kind, id, at } of standing) marks.add(kind, id, at);
      await writeAll(standing);
      await cache.set(GENERATION, clock.now().toISOString());
    } catch (error) {
      owed = true;
      throw error;
    } finally {
      unmarkedMeanwhile = undefined;
    }
    hearing.filled(since, losses);
  };
  const fill = inTurns(async () => {
    if (refill !== undefined) await fillOnce(refill);
  });
  /**
   * The change itself is durable: while the cache is away, processes ask identity, and get the revocation
   * later.
   */
  const orOwe = async (work: Promise<void>): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      if (refill === undefined) throw error;
      // Whatever went wrong, it is made good at the next check: nobody may ask for it again.
      owed = true;
      unlessAway(error);
      return false;
    }
  };
  return {
    isKept: () => refill !== undefined,
    owes: () => owed || owedUnmarks.size > 0,
    fill,
    keepFilled: async (all: RefillRevocations): Promise<void> => {
      refill = all;
      // Always at first: whoever kept them before may have owed some.
      await fill().catch(unlessAway);
    },
    mark: async (kind: RevocationKind, ids: readonly string[], at?: number): Promise<void> => {
      // First here: whatever becomes of the cache, this process knows.
      for (const id of ids) {
        marks.add(kind, id, at);
        owedUnmarks.delete(revocationKey(kind, id));
        unmarkedMeanwhile?.delete(revocationKey(kind, id));
      }
      await orOwe(write(kind, marksOf(kind, ids, at)));
    },
    unmark: async (kind: RevocationKind, ids: readonly string[]): Promise<void> => {
      for (const id of ids) {
        marks.remove(kind, id);
        unmarkedMeanwhile?.add(revocationKey(kind, id));
      }
      for (const id of ids) owe(owedUnmarks, { kind, id });
      if (!(await orOwe(erase(kind, ids)))) return;
      for (const id of ids) owedUnmarks.delete(revocationKey(kind, id));
    },
    orOwe,
    heardUnmarked: (kind: RevocationKind, ids: readonly string[]): void => {
      for (const id of ids) unmarkedMeanwhile?.add(revocationKey(kind, id));
    },
    tellAll: (names: readonly string[]): void => {
      if (refill === undefined) return;
      // This one starts after the question, so it misses nothing. Who got no answer asks again.
      fill()
        .then(() => cache.publish(CHANNEL, writeNotice({ word: '!', names })))
        .catch(() => {});
    },
  };
}

const marksOf = (
  kind: RevocationKind,
  ids: readonly string[],
  at?: number,
): readonly Revocation[] => ids.map((id) => (at === undefined ? { kind, id } : { kind, id, at }));

function owe(unmarks: Map<string, Revocation>, mark: Revocation): void {
  unmarks.set(revocationKey(mark.kind, mark.id), mark);
  const [oldest] = unmarks.keys();
  if (unmarks.size > OWED_UNMARKS_MAX && oldest !== undefined) unmarks.delete(oldest);
}

/** Each change is written to the cache first, then published. */
function writerOf({ cache, ttlMs }: Dependencies) {
  type Told = Extract<Notice, { readonly kind: RevocationKind }>;
  const tell = async (notice: Told): Promise<void> => {
    for (const ids of chunks(notice.ids)) {
      await cache.publish(CHANNEL, writeNotice({ ...notice, ids }));
    }
  };
  const writeRank = async ({ kind, id, at = 0 }: Revocation): Promise<void> => {
    // What another process has written meanwhile may be later than what was read here.
    await cache.raise(revocationKey(kind, id), BigInt(at), ttlMs);
    await tell({ word: '+', kind, ids: [id], at });
  };
  const write = async (kind: RevocationKind, all: readonly Revocation[]): Promise<void> => {
    if (kind === 'rank') {
      for (const mark of all) await writeRank(mark);
      return;
    }
    const ids = all.map(({ id }) => id);
    for (const some of chunks(ids)) {
      await cache.setMany(some.map((id) => ({ key: revocationKey(kind, id), value: '1', ttlMs })));
    }
    await tell({ word: '+', kind, ids });
  };
  const writeAll = async (marks: readonly Revocation[]): Promise<void> => {
    for (const kind of KINDS) {
      await write(
        kind,
        marks.filter((mark) => mark.kind === kind),
      );
    }
  };
  const erase = async (kind: RevocationKind, ids: readonly string[]): Promise<void> => {
    for (const id of ids) await cache.delete(revocationKey(kind, id));
    await tell({ word: '-', kind, ids });
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

/** One at a time; whoever calls meanwhile waits for one that starts after the call. */
function inTurns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const done = work();
      running = done.catch(() => {});
      return done;
    });
    return next;
  };
}
