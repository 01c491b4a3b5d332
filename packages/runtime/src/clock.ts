import type { Clock } from './ports.ts';

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, ms));
      signal?.addEventListener('abort', wake);
    }),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until a test advances it. */
export interface FakeClock extends Clock {
  /** Advances both clocks and wakes each sleeper at its time, in order. Sleepers may sleep again. */
  advance(ms: number): Promise<void>;
  /** Sets only the wall clock, also backwards. Durations and sleepers are not affected. */
  setWall(now: Date | string): void;
  /** The number of waiting sleepers. A test waits until the loop sleeps before it advances the clock. */
  readonly sleepers: number;
}

type Sleeper = { readonly due: number; readonly wake: () => void };

/** Starts at `start` (wall) and 0 (monotonic). */
export function fakeClock(start: Date | string): FakeClock {
  let wallMs = new Date(start).getTime();
  let elapsedMs = 0;
  const sleepers = new Set<Sleeper>();
  const move = (ms: number): void => {
    wallMs += ms;
    elapsedMs += ms;
  };
  const sleepUntil = (ms: number, wake: () => void): Sleeper => {
    const sleeper = { due: elapsedMs + Math.max(0, ms), wake };
    sleepers.add(sleeper);
    return sleeper;
  };
  const next = (): Sleeper | undefined =>
    [...sleepers].reduce<Sleeper | undefined>(
      (first, each) => (first === undefined || each.due < first.due ? each : first),
      undefined,
    );
  return {
    now: () => new Date(wallMs),
    monotonicMs: () => elapsedMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = sleepUntil(ms, wake);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    after: (ms, callback) => {
      const sleeper = sleepUntil(ms, () => {
        sleepers.delete(sleeper);
        callback();
      });
      return () => void sleepers.delete(sleeper);
    },
    advance: async (ms) => {
      const end = elapsedMs + ms;
      for (let first = next(); first !== undefined && first.due <= end; first = next()) {
        move(Math.max(0, first.due - elapsedMs));
        first.wake();
        await settled();
      }
      move(end - elapsedMs);
      await settled();
    },
    setWall: (now) => {
      wallMs = new Date(now).getTime();
    },
    get sleepers() {
      return sleepers.size;
    },
  };
}

/** The code that was woken runs until it waits for something else. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
