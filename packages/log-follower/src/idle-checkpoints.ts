/**
 * Checkpoints that moved over events which change nothing, stored together: one statement now and then
 * for all followers of a service, where each would write as often as anything is appended.
 */
import type { Clock } from '@cardea/runtime';
import type { CheckpointMove } from './checkpoint.ts';

export type IdleMove = CheckpointMove & {
  /** It did not move: someone else follows, or the database is away. */
  readonly onLost: () => void;
};

export type IdleCheckpoints = {
  /** Soon moves the stored checkpoint, and `checkpoint` with it. */
  pass(name: string, move: IdleMove): void;
  /** Before anyone else moves the checkpoint: nothing of this name is under way any more. */
  settle(name: string): Promise<void>;
  /** Stores what waits at once. */
  flush(): Promise<void>;
};

export function idleCheckpoints(of: {
  readonly clock: Clock;
  /** How long a stored checkpoint may lag. */
  readonly delayMs: number;
  /** Answers the names whose checkpoint moved. */
  readonly store: (moves: ReadonlyMap<string, IdleMove>) => Promise<ReadonlySet<string>>;
}): IdleCheckpoints {
  const waiting = new Map<string, IdleMove>();
  let cancel: (() => void) | undefined;
  let underWay: Promise<void> | undefined;

  const storeAll = async (): Promise<void> => {
    const moves = new Map(waiting);
    waiting.clear();
    // Whoever reads its checkpoint again finds out, and tells, what keeps it from there.
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
    cancel = of.clock.after(of.delayMs, () => {
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
  };
}
