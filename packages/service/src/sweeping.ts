/** Work that one replica repeats: at once when it gets the lease, then every `everyMs`. */
import type { Clock } from '@cardea/runtime';
import type { Loop } from './service.ts';

/** A loop has to tick more often than it sweeps, or it would count as stuck. */
const TICK_EVERY_MS = 3000;

export type Sweep = {
  readonly name: string;
  /** Rounded to the next tick. */
  readonly everyMs: number;
  readonly clock: Clock;
  /** Calls `tick` itself where it takes long. */
  readonly sweep: (signal: AbortSignal, tick: () => void) => Promise<void>;
};

export const sweeping = ({ name, everyMs, clock, sweep }: Sweep): Loop => ({
  name,
  leader: true,
  run: async (signal, tick) => {
    let sweptMs = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      tick();
      const nowMs = clock.monotonicMs();
      if (nowMs - sweptMs >= everyMs) {
        sweptMs = nowMs;
        await sweep(signal, tick);
      }
      await clock.sleep(TICK_EVERY_MS, signal);
    }
  },
});
