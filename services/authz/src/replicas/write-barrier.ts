/**
 * The barrier that a change passes before it is answered, so that no replica answers from an older state in memory.
 * Each row of `replicas` has to reach the change's position, or has to be expired: not renewed for so long that its
 * lease has ended.
 */
import { waiters } from '@cardea/log-follower';
import { DatabaseUnavailable } from '@cardea/read-models';
import { type Clock, metrics } from '@cardea/runtime';
import { type Replica, type ReplicaTable, readNotice } from '../adapters/replica-table.ts';

/** The time without a renewal, by this process's own clock. It is longer than a lease, so clocks need not agree. */
const DEAD_MS = 2_000;
/** A replica that lags for this long gets no more renewals. */
const FENCE_AFTER_MS = 1_000;
/** How often rows are read again, because a notice may be lost. */
const LOOK_AGAIN_MS = 50;
/** After this time every row is past the position or dead, unless rows cannot be changed. */
const PASS_MS_MAX = 5_000;
const WAITERS_MAX = 10_000;

export type WriteBarrier = {
  /**
   * Call it once per change, after its commit. Throws if the rows cannot be read; the change is stored all the same.
   */
  readonly pass: (position: bigint) => Promise<void>;
  /** Updates the known state of the rows and removes dead ones, so that later changes wait less. */
  readonly look: () => Promise<void>;
  /** Whether the rows that were read last include any of other replicas. */
  readonly hasOthers: () => boolean;
  /** Processes a notice of the table's channel. Undefined means that notices may have been missed. */
  readonly notice: (payload: string | undefined) => void;
};

/** Used if there is only one process. */
export const noBarrier: Pick<WriteBarrier, 'pass'> = { pass: async () => {} };

export type WriteBarrierDependencies = {
  readonly table: Pick<ReplicaTable, 'rows' | 'fence' | 'remove'>;
  /** The row of this process. Its own index is waited for in another way. */
  readonly ownId: () => string | undefined;
  readonly clock: Clock;
};

type Known = {
  readonly counter: string;
  /** The time at which this process first saw the row's counter. */
  readonly sinceMs: number;
  readonly fenced: boolean;
  applied: bigint;
};

export function writeBarrier({ table, ownId, clock }: WriteBarrierDependencies): WriteBarrier {
  let known: ReadonlyMap<string, Known> = new Map();
  const waiting = waiters(clock, WAITERS_MAX);

  const read = oneAtATime(async () => {
    const rows = await table.rows();
    const nowMs = clock.monotonicMs();
    known = new Map(rows.map((row) => [row.id, knownOf(row, known.get(row.id), nowMs)]));
    waiting.moved();
  });

  const others = (): readonly string[] => {
    const own = ownId();
    return [...known.keys()].filter((id) => id !== own);
  };

  /** Returns the rows that have not reached the position. */
  const lagging = (ids: readonly string[], position: bigint): readonly string[] =>
    ids.filter((id) => (known.get(id)?.applied ?? position) < position);

  const removeDead = async (ids: Iterable<string>): Promise<boolean> => {
    const nowMs = clock.monotonicMs();
    let found = false;
    for (const id of ids) {
      const row = known.get(id);
      if (row === undefined || nowMs - row.sinceMs < DEAD_MS) continue;
      // Removes the row only if it was not renewed. From here on it cannot be.
      await table.remove(id, row.counter);
      found = true;
    }
    return found;
  };

  const passed = async (position: bigint): Promise<void> => {
    const startMs = clock.monotonicMs();
    await read();
    // A replica that registers later starts from an end of the log that includes the change.
    const awaited = others();
    for (;;) {
      const late = lagging(awaited, position);
      if (late.length === 0) return;
      const waitedMs = clock.monotonicMs() - startMs;
      if (waitedMs > PASS_MS_MAX) {
        throw new DatabaseUnavailable('The rows of other replicas neither move nor go.');
      }
      if (!(await removeDead(late)) && waitedMs >= FENCE_AFTER_MS) {
        const renewed = late.filter((id) => known.get(id)?.fenced === false);
        if (renewed.length > 0) await table.fence(renewed);
      }
      await waiting.until(() => lagging(awaited, position).length === 0, LOOK_AGAIN_MS);
      if (lagging(awaited, position).length > 0) await read();
    }
  };

  return {
    pass: async (position) => {
      const startMs = clock.monotonicMs();
      await passed(position);
      metrics.barrierWait.observe((clock.monotonicMs() - startMs) / 1000);
    },
    look: async () => {
      await read();
      if (await removeDead(others())) await read();
    },
    hasOthers: () => others().length > 0,
    notice: (payload) => {
      const moved = payload === undefined ? undefined : readNotice(payload);
      const row = moved && known.get(moved.id);
      if (moved === undefined || row === undefined || row.applied >= moved.applied) return;
      row.applied = moved.applied;
      waiting.moved();
    },
  };
}

/** The time is taken after the row was read, so the renewal is certainly older. */
const knownOf = (row: Replica, before: Known | undefined, nowMs: number): Known => ({
  counter: row.counter,
  sinceMs: before?.counter === row.counter ? before.sinceMs : nowMs,
  fenced: row.fenced,
  applied: before !== undefined && before.applied > row.applied ? before.applied : row.applied,
});

/** Callers that arrive during a run share the next one, which starts after they called. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    const started = work().finally(() => {
      running = undefined;
    });
    running = started;
    return started;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
