/** Runs a service's loops for as long as the process lives; one that throws is started again. */
import type { Clock, Logger, Loops } from '@cardea/runtime';
import type { Loop } from './service.ts';

const RESTART_PAUSE_MS_MIN = 250;
const RESTART_PAUSE_MS_MAX = 10_000;

type Needs = {
  readonly loops: Loops;
  readonly clock: Clock;
  readonly log: Logger;
  /** Runs the work only while this process leads; others stand by. */
  readonly lead: (
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
    tick: () => void,
  ) => Promise<void>;
};

export type RunningLoop = { stop(): Promise<void> };

export function runLoop(loop: Loop, { loops, clock, log, lead }: Needs): RunningLoop {
  const stopped = new AbortController();
  const watch = loops.watch(loop.name);
  const tick = (): void => watch.tick();
  const turn = (signal: AbortSignal): Promise<void> => loop.run(signal, tick);

  const ended = (async () => {
    let pauseMs = RESTART_PAUSE_MS_MIN;
    while (!stopped.signal.aborted) {
      try {
        tick();
        if (loop.leader) await lead(loop.name, stopped.signal, turn, tick);
        else await turn(stopped.signal);
        pauseMs = RESTART_PAUSE_MS_MIN;
        watch.degraded(undefined);
      } catch (error) {
        watch.degraded('failing');
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
