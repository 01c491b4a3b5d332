/** Longest time for which a walk may block other requests. */
const SLICE_MS = 5;

/** Runs one slice of a walk: returns its result, or undefined if it needs another slice. */
export function slice<T>(
  walk: Generator<void, T>,
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
export async function inSlices<T>(walk: Generator<void, T>, monotonicMs: () => number): Promise<T> {
  for (;;) {
    const done = slice(walk, monotonicMs);
    if (done !== undefined) return done.value;
    await nextTurn();
  }
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
