/** A bell between a projection and the loop that waits for it: a ring before the wait is not lost. */
import type { Clock } from '@cardea/runtime';

export type WakeSignal = {
  readonly ring: () => void;
  /** Resolves at the next ring, at once when one came since the last wait, or after `ms`. */
  readonly awake: (ms: number, signal: AbortSignal) => Promise<void>;
};

export function wakeSignal(clock: Pick<Clock, 'sleep'>): WakeSignal {
  let rang = false;
  let wake: (() => void) | undefined;
  return {
    ring: () => {
      rang = true;
      wake?.();
    },
    awake: async (ms, signal) => {
      if (!rang) {
        const rung = new AbortController();
        wake = () => rung.abort();
        await clock.sleep(ms, AbortSignal.any([rung.signal, signal]));
        wake = undefined;
      }
      rang = false;
    },
  };
}
