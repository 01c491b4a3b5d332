/** Wakes the loop that empties a queue when a job is added: a call before the wait is not lost. */
import type { Clock } from '@cardea/runtime';

export type WakeSignal = {
  readonly wake: () => void;
  /** Resolves at the next call, at once when there was one since the last wait, or after `ms`. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

export function wakeSignal(clock: Pick<Clock, 'sleep'>): WakeSignal {
  let called = false;
  let end: (() => void) | undefined;
  return {
    wake: () => {
      called = true;
      end?.();
    },
    wait: async (ms, signal) => {
      if (!called) {
        const waiting = new AbortController();
        end = () => waiting.abort();
        await clock.sleep(ms, AbortSignal.any([waiting.signal, signal]));
        end = undefined;
      }
      called = false;
    },
  };
}
