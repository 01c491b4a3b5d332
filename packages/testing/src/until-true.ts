import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 30_000;
const POLL_MS = 20;

/**
 * Waits for a condition of the world outside, never for a length of time. Answers the first truthy
 * value; fails after the deadline with what it waited for and the last error.
 */
export async function untilTrue<T>(
  condition: () => T | Promise<T>,
  options: { readonly deadlineMs?: number; readonly what?: string } = {},
): Promise<NonNullable<T>> {
  const { deadlineMs = DEADLINE_MS, what = condition.toString() } = options;
  const deadline = performance.now() + deadlineMs;
  let lastError: unknown;
  while (performance.now() < deadline) {
    try {
      const value = await condition();
      if (value) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await pause(POLL_MS);
  }
  throw new Error(`Not true within ${deadlineMs} ms: ${what}`, { cause: lastError });
}
