import type { Clock, Logger, LoopWatch } from '@cardea/runtime';
import { backOff } from './failures/back-off.ts';

/** The result of one iteration of a loop. */
export type Turn = {
  /** The text that readiness shows. Undefined if the loop is healthy. */
  readonly degraded?: string | undefined;
  /** Waits until there may be more to do. Undefined means to continue at once. */
  readonly rest?: (() => Promise<void>) | undefined;
};

export type RunUntilDependencies = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: Pick<LoopWatch, 'tick' | 'degraded'>;
};

/**
 * A loop that ends only by its signal. A failed iteration is logged once, shown as `degraded`, and tried again after a
 * growing pause.
 */
export async function runUntil(
  signal: AbortSignal,
  turn: () => Promise<Turn>,
  { clock, log, watch }: RunUntilDependencies,
): Promise<void> {
  const failing = backOff({ clock, log });
  while (!signal.aborted) {
    watch.tick();
    try {
      const { degraded, rest } = await turn();
      failing.over();
      watch.degraded(degraded);
      await rest?.();
    } catch (error) {
      if (signal.aborted) return;
      watch.degraded(failing.failed(error));
      await failing.pause(signal);
    }
  }
}
