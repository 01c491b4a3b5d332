import type { Clock } from '@cardea/runtime';

type Waiter = { readonly isOver: () => boolean; readonly wake: () => void };

/** Callers who wait until something has come as far as they need. */
export type Waiters = {
  readonly size: number;
  /** True when it is over within the time; false at once where too many wait already. */
  until(isOver: () => boolean, timeoutMs: number): Promise<boolean>;
  /** Something moved: whoever has waited for that goes on. */
  moved(): void;
  /** Nothing will move any more. */
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
