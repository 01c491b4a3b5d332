import { type Clock, errorCode, type Logger, type LoopWatch } from '@cardea/runtime';

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
  let failing: BackOff | undefined;
  while (!signal.aborted) {
    watch.tick();
    try {
      const { degraded, rest } = await turn();
      failing?.over();
      failing = undefined;
      watch.degraded(degraded);
      await rest?.();
    } catch (error) {
      if (signal.aborted) return;
      failing ??= backOff({ clock, log });
      watch.degraded(failing.failed(error));
      await failing.pause(signal);
    }
  }
}

const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5000;

/** A series of failures. It is logged once per code, with a pause that grows from 100 ms to 5 s until it ends. */
export type BackOff = {
  /** Records a failure. Returns the text to show as `degraded`. */
  failed(error: unknown): string;
  /** Waits before the next try. */
  pause(signal: AbortSignal): Promise<void>;
  /** Called after a success to end the series. */
  over(): void;
};

export function backOff({ clock, log }: { readonly clock: Clock; readonly log: Logger }): BackOff {
  let failures = 0;
  let latest: string | undefined;
  return {
    failed: (error) => {
      const code = errorCode(error);
      if (code !== latest) log.warn({ code }, 'cannot continue');
      failures += 1;
      latest = code;
      return `cannot continue: ${code}`;
    },
    pause: async (signal) => {
      const doublings = Math.min(Math.max(failures - 1, 0), 10);
      await clock.sleep(Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** doublings), signal);
    },
    over: () => {
      if (failures > 0) log.info({}, 'continues');
      failures = 0;
      latest = undefined;
    },
  };
}
