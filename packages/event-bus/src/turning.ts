import type { Clock, Logger, LoopWatch } from '@cardea/runtime';
import { errorCode } from './consuming/passing-failure.ts';

/**
 * A loop that nothing ends but its signal: a turn that fails is told once, shown as `degraded`, and
 * tried again after a pause that grows.
 */
export const turnUntil = async (
  signal: AbortSignal,
  turn: () => Promise<void>,
  { clock, log, watch, name }: Turning,
): Promise<void> => {
  let failures = 0;
  while (!signal.aborted) {
    watch.tick();
    try {
      await turn();
      if (failures > 0) log.info({ loop: name }, 'the loop gets on again');
      if (failures > 0) watch.degraded(undefined);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const code = errorCode(error);
      if (failures === 1) log.warn({ loop: name, code }, 'a turn of the loop failed');
      watch.degraded(`${name} cannot get on: ${code}`);
      const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (failures - 1));
      await clock.sleep(pauseMs, signal);
    }
  }
};

export type Turning = {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: LoopWatch;
};

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5000;
