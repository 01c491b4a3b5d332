import type { Clock } from '@cardea/runtime';

type Waiter = { readonly isOver: () => boolean; readonly wake: () => void };

/** Callers that wait until something has progressed far enough. */
export type Waiters = {
  readonly size: number;
  /**
   * Resolves with true if the condition holds within the time. Resolves with false at once when too many callers are
   * waiting.
   */
  until(isOver: () => boolean, timeoutMs: number): Promise<boolean>;
  /** Call it after progress. Callers whose condition now holds continue. */
  moved(): void;
  /** Call it when there will be no further progress. */
  end(): void;
};

export function waiters(clock: Clock, waitersMax: number): Waiters {
  const waiting = new Set<Waiter>();
  let ended = false;
  return {
    get size() {
      return waiting.size;
    },
    until: (isOver, timeoutMs) => {
      if (isOver()) return Promise.resolve(true);
      if (ended || timeoutMs <= 0 || waiting.size >= waitersMax) return Promise.resolve(false);
      return new Promise((resolve) => {
        const wake = (): void => {
          cancel();
          waiting.delete(waiter);
          resolve(isOver());
        };
        const waiter: Waiter = { isOver, wake };
        const cancel = clock.after(timeoutMs, wake);
        waiting.add(waiter);
      });
    },
    moved: () => {
      for (const waiter of [...waiting]) if (waiter.isOver()) waiter.wake();
    },
    end: () => {
      ended = true;
      for (const waiter of [...waiting]) waiter.wake();
    },
  };
}
