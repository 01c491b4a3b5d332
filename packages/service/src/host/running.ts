/** Stops the parts that were started. */

export type Running = { stop(): Promise<void> };

/**
 * Stops parts in the reverse order of their start. A part that fails to stop, for example without a database, does not
 * keep the others from stopping. The first failure is thrown at the end.
 */
export async function stopAll(started: readonly Running[]): Promise<void> {
  const failures: unknown[] = [];
  for (const running of started.toReversed()) {
    await running.stop().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
