import type { Clock } from '../ports.ts';

/** Wakes a sleeping loop. A wake-up between two sleeps is not lost: the next sleep ends at once. */
export type WakeSignal = {
  wake(): void;
  /** Resolves when the signal wakes it, when the time is over, or when `signal` aborts. */
  rest(ms: number, signal: AbortSignal): Promise<void>;
};

/** A reason of our own. The default reason is an error with a stack, created at every wake-up. */
const WOKEN = 'woken';

export const wakeSignal = (clock: Pick<Clock, 'sleep'>): WakeSignal => {
  let isWoken = false;
  let resting: AbortController | undefined;
  return {
    wake: () => {
      isWoken = true;
      resting?.abort(WOKEN);
    },
    rest: async (ms, signal) => {
      if (!isWoken && !signal.aborted) {
        const own = new AbortController();
        const end = () => own.abort();
        resting = own;
        signal.addEventListener('abort', end, { once: true });
        await clock.sleep(ms, own.signal);
        signal.removeEventListener('abort', end);
        resting = undefined;
      }
      isWoken = false;
    },
  };
};
