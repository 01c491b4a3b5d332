/**
 * Checkpoints that moved over events without effect, stored together: one statement at intervals for all followers of a
 * service, instead of one per follower for each append.
 */
import type { Clock } from '@cardea/runtime';
import type { CheckpointMove } from './checkpoint.ts';

export type IdleMove = CheckpointMove & {
  /** Called when the checkpoint did not move: another process follows, or the database is unavailable. */
  readonly onLost: () => void;
};

export type IdleCheckpoints = {
  /** Schedules a move of the stored checkpoint, and of `checkpoint` with it. */
  pass(name: string, move: IdleMove): void;
  /** Call it before moving the checkpoint in another way. Afterwards no move of this name is pending. */
  settle(name: string): Promise<void>;
  /** Stores pending moves at once. */
  flush(): Promise<void>;
  /**
   * Begins to store pending moves, so that they can share a transaction. The code that stores them calls back. If
   * others were stored a moment ago, the moves wait and share a statement with later ones.
   */
  join(): void;
};

export function idleCheckpoints(of: {
  readonly clock: Clock;
  /** How long a stored checkpoint may lag. */
  readonly delayMs: () => number;
  /** Returns the names of the checkpoints that moved. */
  readonly store: (moves: ReadonlyMap<string, IdleMove>) => Promise<ReadonlySet<string>>;
}): IdleCheckpoints {
  const waiting = new Map<string, IdleMove>();
  let cancel: (() => void) | undefined;
  let underWay: Promise<void> | undefined;
  let storedMs = Number.NEGATIVE_INFINITY;

  const storeAll = async (): Promise<void> => {
    storedMs = of.clock.monotonicMs();
    const moves = new Map(waiting);
    waiting.clear();
    // The follower reads its checkpoint again, and reports the failure if it persists.
    const moved = await of.store(moves).catch((): ReadonlySet<string> => new Set());
    for (const [name, { checkpoint, to, onLost }] of moves) {
      if (moved.has(name)) checkpoint.position = to;
      else onLost();
    }
  };
  const begin = (): Promise<void> => {
    underWay ??= storeAll().finally(() => {
      underWay = undefined;
      schedule();
    });
    return underWay;
  };
  const schedule = (): void => {
    if (cancel !== undefined || underWay !== undefined || waiting.size === 0) return;
    cancel = of.clock.after(of.delayMs(), () => {
      cancel = undefined;
      if (waiting.size > 0) void begin();
    });
  };

  return {
    pass: (name, move) => {
      waiting.set(name, move);
      schedule();
    },
    settle: async (name) => {
      waiting.delete(name);
      await underWay;
    },
    flush: async () => {
      cancel?.();
      cancel = undefined;
      await underWay;
      if (waiting.size > 0) await begin();
    },
    join: () => {
      if (waiting.size === 0 || underWay !== undefined) return;
      if (of.clock.monotonicMs() - storedMs < of.delayMs()) return;
      cancel?.();
      cancel = undefined;
      void begin();
    },
  };
}
