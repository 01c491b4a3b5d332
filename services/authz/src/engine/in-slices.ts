/**
 * Runs walks in slices between other requests: one slice per turn of the event loop, in turns between tenants, until
 * the request's computing time is used up or its client has disconnected.
 */
import { EvaluationBudgetExceeded, type Walk } from './budget.ts';
import { Rounds } from './rounds.ts';
import type { Work } from './work.ts';

/** The longest time for which a walk may block other requests. A walk reads the clock when it pauses. */
const SLICE_MS = 5;
/** The number of pauses after which a walk counts as long. It has read about 20,000 records by then. */
const PAUSES_AT_ONCE = 10;

/** Runs a walk to its end at once. Returns undefined if that would take long. */
export function atOnce<T>(
  walk: Walk<T>,
  monotonicMs: () => number,
): { readonly value: T } | undefined {
  let endMs = Number.POSITIVE_INFINITY;
  for (let pauses = 0; pauses < PAUSES_AT_ONCE; pauses++) {
    const step = walk.next();
    if (step.done) return step;
    // Most walks never pause, so the clock is first read at the first pause.
    if (pauses === 0) endMs = monotonicMs() + SLICE_MS;
    else if (monotonicMs() >= endMs) return undefined;
  }
  return undefined;
}

/** Runs a walk to its end. Returns undefined if it may not continue. */
export interface Slices {
  <T>(work: Work, walk: Walk<T>): Promise<T>;
  <T>(work: Work, walk: Walk<T>, mayGoOn: () => boolean): Promise<T | undefined>;
}

type Running = {
  readonly work: Work;
  /** Runs one slice. Returns false if there is no further one. */
  readonly step: () => boolean;
};

/** The computing time of this thread. On a busy machine a slice takes longer than it computes. */
const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

export function slices(monotonicMs: () => number, cpuMs = threadCpuMs): Slices {
  const running = new Rounds<Running>();
  const turn = (): void => {
    const one = running.take();
    if (one?.step() === true) running.add(one.work.tenantId, one);
    if (running.count > 0) setImmediate(turn);
  };
  const start = (one: Running): void => {
    running.add(one.work.tenantId, one);
    if (running.count === 1) setImmediate(turn);
  };
  return <T>(work: Work, walk: Walk<T>, mayGoOn: () => boolean = () => true) =>
    new Promise<T>((resolve, reject) => {
      const step = (): boolean => {
        try {
          work.expectClient();
          if (!mayGoOn()) resolve(undefined as T);
          else {
            const done = slice(work, walk, { monotonicMs, cpuMs });
            if (done === undefined) return true;
            resolve(done.value);
          }
        } catch (error) {
          reject(error);
        }
        return false;
      };
      start({ work, step });
    });
}

/**
 * Returns undefined if the walk needs another slice. A walk whose time is used up gets an exception and may still
 * return a partial answer.
 */
function slice<T>(
  work: Work,
  walk: Walk<T>,
  { monotonicMs, cpuMs }: { readonly monotonicMs: () => number; readonly cpuMs: () => number },
): { readonly value: T } | undefined {
  const startMs = monotonicMs();
  const startCpuMs = cpuMs();
  try {
    do {
      const step = work.isSpent ? walk.throw(new EvaluationBudgetExceeded()) : walk.next();
      if (step.done) return { value: step.value };
    } while (monotonicMs() < startMs + SLICE_MS);
    return undefined;
  } finally {
    work.computed(cpuMs() - startCpuMs);
  }
}
