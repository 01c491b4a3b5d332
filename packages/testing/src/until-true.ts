import { setTimeout as pause } from 'node:timers/promises';

/** The deadline is far longer than anything takes on an idle machine, so that a busy machine does not fail. */
const DEADLINE_MS = 90_000;
const POLL_MS = 20;
/**
 * A slow condition is checked less often, because a check is often a request, and takes processor time from the work
 * that it waits for.
 */
const POLL_MS_MAX = 100;
const POLL_SHARE = 0.05;

/**
 * Waits for a condition, never for a length of time. Returns the first truthy value. After the deadline it fails with
 * what it waited for and the last error. It checks at least once, and once more after the deadline, because the machine
 * may have been equally slow for this process and for what it waits for.
 */
export async function untilTrue<T>(
  condition: () => T | Promise<T>,
  options: { readonly deadlineMs?: number; readonly what?: string } = {},
): Promise<NonNullable<T>> {
  const { deadlineMs = DEADLINE_MS, what = condition.toString() } = options;
  const began = performance.now();
  const deadline = began + deadlineMs;
  let lastError: unknown;
  for (;;) {
    const isLast = performance.now() >= deadline;
    try {
      const value = await condition();
      if (value) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (isLast) throw new Error(`Not true within ${deadlineMs} ms: ${what}`, { cause: lastError });
    const waitedMs = performance.now() - began;
    await pause(Math.min(Math.max(POLL_MS, waitedMs * POLL_SHARE), POLL_MS_MAX));
  }
}
