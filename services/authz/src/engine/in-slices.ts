/** Longest stretch for which a walk keeps others from being served. */
const SLICE_MS = 5;

/** One stretch of a walk: its result, or undefined when it needs another. */
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
