import type { Cache, Clock } from '@cardea/runtime';
import type { Mark, RefillMarks, RevocationKind, Revocations } from './principal.ts';

const KINDS: readonly RevocationKind[] = ['sid', 'user', 'key', 'agent', 'asid'];
/** Present while the marks of the cache are whole; a cache that came back empty has it not. */
const GENERATION = 'rev:generation';
const CHANNEL = 'rev';
/** A process that starts has heard nothing yet, and the marks of a cache cannot be listed. */
const ASK = '?';
const CHECK_MS = 1000;
/** Marks that one process holds; beyond it the oldest go, and are looked up live where it matters. */
const MIRROR_MAX = 500_000;
const IDS_PER_NOTICE = 500;

export type RevocationsNeeds = {
  readonly cache: Cache;
  readonly clock: Clock;
  /** JWT_EXPIRY + 1 h: how long a mark must outlive what it revokes. */
  readonly ttlMs: number;
};

export interface MirroredRevocations extends Revocations {
  /** Listens for marks of other processes, and asks for those that it missed. */
  start(): Promise<void>;
  /** One look whether the cache lost its marks, and the refill if so; `run` does it each second. */
  check(): Promise<void>;
  /** Checks until the signal aborts; `tick` is called at each turn, `onFailure` when the cache is away. */
  run(signal: AbortSignal, tick: () => void, onFailure: (error: unknown) => void): Promise<void>;
  stop(): Promise<void>;
}

/** Marks in the shared cache, and a copy of them in this process that a look costs no round trip. */
export function revocations({ cache, clock, ttlMs }: RevocationsNeeds): MirroredRevocations {
  const marks = mirror(clock, ttlMs);
  let leave: (() => Promise<void>) | undefined;
  let refill: RefillMarks | undefined;

  const tell = async (notice: '+' | '-', kind: RevocationKind, ids: readonly string[]) => {
    for (let from = 0; from < ids.length; from += IDS_PER_NOTICE) {
      const some = ids.slice(from, from + IDS_PER_NOTICE);
      await cache.publish(CHANNEL, JSON.stringify([notice, kind, ...some]));
    }
  };
  const write = async (all: readonly Mark[]): Promise<void> => {
    const entries = all.map(({ kind, id }) => ({ key: keyOf(kind, id), value: '1', ttlMs }));
    await cache.setMany(entries);
  };
  const writeAgain = async (all: readonly Mark[]): Promise<void> => {
    await write(all);
    for (const kind of KINDS) {
      const ids = all.filter((mark) => mark.kind === kind).map(({ id }) => id);
      for (const id of ids) marks.add(kind, id);
      await tell('+', kind, ids);
    }
  };
  const check = async (): Promise<void> => {
    if (refill === undefined || (await cache.get(GENERATION)) !== undefined) return;
    await writeAgain(await refill());
    await cache.set(GENERATION, clock.now().toISOString());
  };
  const hear = (message: string): void => {
    if (message !== ASK) applyNotice(message, marks);
    // A failure shows at the next check; who asked goes on asking the cache where it matters.
    else if (refill !== undefined)
      refill()
        .then(writeAgain, () => {})
        .catch(() => {});
  };

  return {
    mark: async (kind, ids) => {
      // First here: whatever becomes of the cache, this process knows.
      for (const id of ids) marks.add(kind, id);
      await write(ids.map((id) => ({ kind, id })));
      await tell('+', kind, ids);
    },
    unmark: async (kind, ids) => {
      for (const id of ids) await cache.delete(keyOf(kind, id));
      for (const id of ids) marks.remove(kind, id);
      await tell('-', kind, ids);
    },
    isMarked: (kind, id) => marks.has(kind, id),
    areMarked: async (asked) => {
      const found = await cache.getMany(asked.map(({ kind, id }) => keyOf(kind, id)));
      return found.map((value) => value !== undefined);
    },
    start: async () => {
      if (leave !== undefined) return;
      leave = await cache.subscribe(CHANNEL, hear);
      await cache.publish(CHANNEL, ASK);
    },
    keepFilled: async (all) => {
      refill = all;
      await check();
    },
    check,
    run: async (signal, tick, onFailure) => {
      while (!signal.aborted) {
        tick();
        await check().catch(onFailure);
        await clock.sleep(CHECK_MS, signal);
      }
    },
    stop: async () => {
      await leave?.();
      leave = undefined;
    },
  };
}

const keyOf = (kind: RevocationKind, id: string): string => `rev:${kind}:${id}`;

interface Mirror {
  add(kind: RevocationKind, id: string): void;
  remove(kind: RevocationKind, id: string): void;
  has(kind: RevocationKind, id: string): boolean;
}

/** The order of the map is the order in which the marks end. */
function mirror(clock: Clock, ttlMs: number): Mirror {
  const endsMs = new Map<string, number>();
  const dropEnded = (): void => {
    for (const [key, end] of endsMs) {
      if (end > clock.monotonicMs() && endsMs.size <= MIRROR_MAX) return;
      endsMs.delete(key);
    }
  };
  return {
    add: (kind, id) => {
      const key = keyOf(kind, id);
      endsMs.delete(key);
      endsMs.set(key, clock.monotonicMs() + ttlMs);
      dropEnded();
    },
    remove: (kind, id) => {
      endsMs.delete(keyOf(kind, id));
    },
    has: (kind, id) => (endsMs.get(keyOf(kind, id)) ?? 0) > clock.monotonicMs(),
  };
}

/** What is no notice of ours is passed over. */
function applyNotice(message: string, marks: Mirror): void {
  let notice: unknown;
  try {
    notice = JSON.parse(message);
  } catch {
    return;
  }
  if (!Array.isArray(notice) || !notice.every((each) => typeof each === 'string')) return;
  const [what, named, ...ids] = notice as string[];
  const kind = KINDS.find((each) => each === named);
  if (kind === undefined) return;
  for (const id of ids) {
    if (what === '-') marks.remove(kind, id);
    else marks.add(kind, id);
  }
}
