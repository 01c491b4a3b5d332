/** Waiting for projections: a read for the position in its token, a write for the position that it wrote. */
import { CONSISTENCY_WAIT_MS, CONSISTENCY_WAITERS_MAX, readTokens } from './consistency.ts';
import type { HttpContext } from './http-context.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import type { Route } from './route.ts';

let readersWaiting = 0;

/** A read with a token waits until the tables that it reads have passed the token's position. */
export async function awaitRead(
  { contract, group }: Route,
  { request, parts }: HttpContext,
): Promise<Refusal | undefined> {
  const header = request.headers['x-service-consistency'];
  if (header === undefined) return undefined;
  const position = readTokens(Array.isArray(header) ? header.join(',') : header, group.service);
  if (position === 'malformed') return refusalOf('invalid_consistency_token');
  const { reads } = contract;
  if (position === undefined || reads === undefined || group.positions === undefined) {
    return undefined;
  }
  if (readersWaiting >= CONSISTENCY_WAITERS_MAX) return refusalOf('overloaded');
  readersWaiting += 1;
  const stop = parts.metrics.consistencyWait.startTimer();
  try {
    if (await group.positions.reached(reads, position, CONSISTENCY_WAIT_MS)) return undefined;
    parts.metrics.consistencyTimeouts.inc();
    return refusalOf('not_caught_up');
  } finally {
    readersWaiting -= 1;
    stop();
  }
}

/** A write waits so that its client can read the result; a slow projection never turns a success into an error. */
export async function awaitWrite(
  { contract, group }: Route,
  { parts }: HttpContext,
  wrote: bigint,
) {
  const { waitsFor } = contract;
  if (waitsFor === undefined || waitsFor.length === 0 || group.positions === undefined) return;
  const stop = parts.metrics.consistencyWait.startTimer();
  try {
    const reached = await group.positions.reached(waitsFor, wrote, CONSISTENCY_WAIT_MS);
    if (!reached) parts.metrics.consistencyTimeouts.inc();
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    parts.logger.warn({ error: name }, 'an answer did not wait for its projections');
  } finally {
    stop();
  }
}
