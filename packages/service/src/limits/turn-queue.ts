/** Calls that wait for others to end, in order of arrival. */
import type { Clock } from '@cardea/runtime';

/** The most waiting calls per name. Further ones are refused at once. */
export const WAITING_MAX = 100;

export type TurnQueue = {
  /** Resolves at the next turn or after `ms`. Resolves with false at once if too many are waiting. */
  readonly wait: (name: string, ms: number) => Promise<boolean>;
  /** Wakes the call that has waited longest. */
  readonly next: (name: string) => void;
  /** Wakes all waiters, because no further turns are given. */
  readonly end: (name: string) => void;
};

export function turnQueue(clock: Pick<Clock, 'after'>): TurnQueue {
  const waiting = new Map<string, Set<() => void>>();
  return {
    wait: (name, ms) => {
      const queue = waiting.get(name) ?? new Set();
      if (queue.size >= WAITING_MAX) return Promise.resolve(false);
      waiting.set(name, queue);
      return new Promise((resolve) => {
        const wake = () => {
          cancel();
          queue.delete(wake);
          if (queue.size === 0 && waiting.get(name) === queue) waiting.delete(name);
          resolve(true);
        };
        const cancel = clock.after(ms, wake);
        queue.add(wake);
      });
    },
    next: (name) => {
      const [first] = waiting.get(name) ?? [];
      first?.();
    },
    end: (name) => {
      for (const wake of [...(waiting.get(name) ?? [])]) wake();
    },
  };
}
