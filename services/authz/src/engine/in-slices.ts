import type { Walk } from './closure.ts';

/** Longest time for which a walk may block other requests. */
const SLICE_MS = 5;
/** Pauses after which a walk is no longer a short one: some 20,000 records were looked at. */
const PAUSES_AT_ONCE = 10;

/** Runs a walk to its end at once; undefined if that would take long. */
export function atOnce<T>(walk: Walk<T>): { readonly value: T } | undefined {
  for (let pauses = 0; pauses < PAUSES_AT_ONCE; pauses++) {
    const step = walk.next();
    if (step.done) return step;
  }
  return undefined;
}

/** Runs one slice of a walk: returns its result, or undefined if it needs another slice. */
export function slice<T>(
  walk: Walk<T>,
  monotonicMs: () => number,
): { readonly value: T } | undefined {
  const endMs = monotonicMs() + SLICE_MS;
  for (;;) {
    const step = walk.next();
    if (step.done) return { value: step.value };
    if (monotonicMs() >= endMs) return undefined;
  }
}

/** Runs a walk to its end, between other requests. */
export async function inSlices<T>(walk: Walk<T>, monotonicMs: () => number): Promise<T> {
  for (;;) {
    const done = slice(walk, monotonicMs);
    if (done !== undefined) return done.value;
    await nextTurn();
  }
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
