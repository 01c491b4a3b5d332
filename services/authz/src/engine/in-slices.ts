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
