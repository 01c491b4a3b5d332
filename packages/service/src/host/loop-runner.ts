/** Runs a service's loops for as long as the process lives. A loop that throws is restarted. */
import type { ProcessSession } from '@cardea/postgres';
import type { Clock, Logger, Loops } from '@cardea/runtime';
import type { Loop } from '../service.ts';

const RESTART_PAUSE_MS_MIN = 250;
const RESTART_PAUSE_MS_MAX = 10_000;
/** One tick before the work and one after it. Most loops end only with the process, and are healthy long before. */
const TICKS_OF_A_ROUND = 2;

type Dependencies = {
  readonly loops: Loops;
  readonly clock: Clock;
  readonly log: Logger;
  readonly locks: ProcessSession;
};

export type RunningLoop = { stop(): Promise<void> };

export function runLoop(loop: Loop, { loops, clock, log, locks }: Dependencies): RunningLoop {
  const stopped = new AbortController();
  const watch = loops.watch(loop.name);
  let pauseMs = RESTART_PAUSE_MS_MIN;
  const isWell = (): void => watch.degraded(undefined);
  let ticks = 0;
  const tick = (): void => {
    watch.tick();
    ticks += 1;
    if (ticks === TICKS_OF_A_ROUND) isWell();
  };
  const turn = (signal: AbortSignal): Promise<void> => {
    ticks = 0;
    return loop.run(signal, tick, watch.degraded);
  };

  const ended = (async () => {
    while (!stopped.signal.aborted) {
      const startedMs = clock.monotonicMs();
      try {
        watch.tick();
        if (loop.leader)
          await whileLeading(locks, loop.name, { signal: stopped.signal, tick, turn });
        else await turn(stopped.signal);
        isWell();
      } catch (error) {
        watch.degraded('failing');
        // A loop that fails soon after each start is restarted with growing pauses.
        if (clock.monotonicMs() - startedMs >= RESTART_PAUSE_MS_MAX) pauseMs = RESTART_PAUSE_MS_MIN;
        log.error({ loop: loop.name, error }, 'loop failed; it is started again');
        await clock.sleep(pauseMs, stopped.signal);
        pauseMs = Math.min(pauseMs * 2, RESTART_PAUSE_MS_MAX);
      }
    }
    watch.stop();
  })();

  return {
    async stop() {
      stopped.abort();
      await ended;
    },
  };
}

const STANDBY_TICK_MS = 1000;

/** Waits on standby while another replica runs the loop, then runs the loop until the lease is lost. */
async function whileLeading(
  locks: ProcessSession,
  name: string,
  of: {
    readonly signal: AbortSignal;
    readonly tick: () => void;
    readonly turn: (signal: AbortSignal) => Promise<void>;
  },
): Promise<void> {
  const standby = setInterval(of.tick, STANDBY_TICK_MS);
  const lease = await locks.hold(`loop:${name}`, of.signal).finally(() => clearInterval(standby));
  if (lease === undefined) return;
  try {
    await of.turn(AbortSignal.any([of.signal, lease.lost]));
  } finally {
    await lease.release();
  }
}
