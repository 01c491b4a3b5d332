import type { Clock } from '../ports.ts';

/**
 * A batch that closely follows another one waits, so that it includes what happens in the meantime. An event waits at
 * most twice before its audit row exists, in its relay and in the ingest. Together that is well below 100 ms.
 */
const BATCH_EVERY_MS = 30;

/**
 * Spaces the batches of one loop. The first after a pause starts at once, each further one `BATCH_EVERY_MS` after the
 * last one began. So the cost per event falls as the rate rises.
 */
export type Pacing = {
  /** Resolves when the next batch may begin, or when the signal aborts. */
  next(signal?: AbortSignal): Promise<void>;
};

export const pacing = (clock: Pick<Clock, 'monotonicMs' | 'sleep'>): Pacing => {
  let beganMs = Number.NEGATIVE_INFINITY;
  return {
    next: async (signal) => {
      const waitMs = beganMs + BATCH_EVERY_MS - clock.monotonicMs();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      beganMs = clock.monotonicMs();
    },
  };
};
