import type { Clock, Logger } from '../ports.ts';

/** Signals within this time of the first are the same Ctrl-C, sent to a group and forwarded too. */
const SAME_SIGNAL_MS = 1000;
const EXIT_STOPPED = 0;
const EXIT_STUCK = 1;

export type ShutdownDependencies = {
  readonly clock: Clock;
  readonly log: Logger;
  /** `SHUTDOWN_DELAY`: how long it continues to serve after it reports that it is not ready. */
  readonly delayMs: number;
  /** `SHUTDOWN_TIMEOUT`: the time limit. Parts that take longer are logged, and the process ends without them. */
  readonly timeoutMs: number;
  /** `process.exit`, which tests replace. */
  readonly exit: (code: number) => void;
};

export interface Shutdown {
  /** True from the first signal on. `/readyz` then answers 503. */
  readonly draining: boolean;
  /** Runs at the first signal, before the delay. */
  onBegin(hook: () => void): void;
  /** Stops run one after another in reverse order: what was started last stops first. */
  onStop(name: string, stop: () => Promise<void> | void): void;
  /** Stops the process like a signal. A process that wants to end itself calls it too. */
  begin(reason: string): void;
  /** Listens to SIGTERM, SIGINT and SIGHUP. */
  listen(): void;
}

/** The orderly end of a process: not ready, wait, stop each part in its order, exit. */
export function shutdown(needs: ShutdownDependencies): Shutdown {
  const { clock, log, exit } = needs;
  const stops: { name: string; stop: () => Promise<void> | void }[] = [];
  const hooks: (() => void)[] = [];
  let startedMs: number | undefined;
  let current = 'the delay';
  let failed = false;

  const stopAll = async (): Promise<void> => {
    await clock.sleep(needs.delayMs);
    for (const { name, stop } of stops.toReversed()) {
      current = name;
      try {
        await stop();
      } catch (err) {
        failed = true;
        log.error({ err, part: name }, 'A part failed to stop.');
      }
    }
  };
  const giveUp = async (ended: AbortSignal): Promise<void> => {
    await clock.sleep(needs.timeoutMs, ended);
    if (ended.aborted) return;
    log.error({ part: current }, 'Stopping took too long; this part hangs.');
    exit(EXIT_STUCK);
  };
  const begin = (reason: string): void => {
    const nowMs = clock.monotonicMs();
    if (startedMs !== undefined) {
      if (nowMs - startedMs > SAME_SIGNAL_MS) exit(EXIT_STUCK);
      return;
    }
    startedMs = nowMs;
    log.info({ reason }, 'Stopping.');
    for (const hook of hooks) hook();
    const ended = new AbortController();
    void giveUp(ended.signal);
    void stopAll().then(() => {
      ended.abort();
      exit(failed ? EXIT_STUCK : EXIT_STOPPED);
    });
  };
  return {
    get draining() {
      return startedMs !== undefined;
    },
    onBegin: (hook) => {
      hooks.push(hook);
    },
    onStop: (name, stop) => {
      stops.push({ name, stop });
    },
    begin,
    listen: () => {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
        process.on(signal, () => begin(signal));
      }
    },
  };
}
