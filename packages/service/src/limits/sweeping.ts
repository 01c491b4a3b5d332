/** Work that one replica repeats. It begins when the replica gets the lease, and is repeated every `everyMs`. */
import { type Clock, sharedRestMs } from '@cardea/runtime';
import type { Loop } from '../service.ts';

/** A loop that sweeps rarely has to tick in between, or it would count as stuck. */
const TICK_EVERY_MS = 10_000;

export type Sweep = {
  readonly name: string;
  readonly everyMs: number;
  readonly clock: Clock;
  /** The function has to call `tick` itself if it runs for long. */
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
      const untilNextMs = everyMs - (clock.monotonicMs() - sweptMs);
      const isSoon = untilNextMs <= TICK_EVERY_MS;
      const restMs = isSoon ? untilNextMs : sharedRestMs(clock, TICK_EVERY_MS);
      await clock.sleep(Math.max(1, restMs), signal);
    }
  },
});
