/**
 * Lets a client read its own writes. A write waits for the projections that its client reads next. The consistency
 * token names the written position, and a read that sends it back returns no older state.
 */
import type { ServiceName } from '@cardea/contracts';
import { type Refusal, refusalOf } from '../refusals/refusal.ts';
import type { Call } from './call.ts';
import type { Route } from './route.ts';

/** The longest wait for a projection, after a write and before a read. */
export const CONSISTENCY_WAIT_MS = 2_000;
/** Reads that wait at the same time. One more is refused with 503 `overloaded`. */
export const CONSISTENCY_WAITERS_MAX = 1_000;

const TOKEN = /^([a-z]{2,16})-(0|[1-9][0-9]{0,18})$/;
const TOKENS_MAX = 16;
const BETWEEN = /[ \t]*,[ \t]*/;
/**
 * The token's form in the document. It has one digit less than is accepted, because no log will reach that position and
 * a pattern that ends at 2^63 would not be readable.
 */
const DOCUMENTED_TOKEN = '[a-z]{2,16}-(0|[1-9][0-9]{0,17})';
export const CONSISTENCY_PATTERN = `^${DOCUMENTED_TOKEN}( ?, ?${DOCUMENTED_TOKEN}){0,${TOKENS_MAX - 1}}$`;
const POSITION_MAX = 2n ** 63n - 1n;

export const printToken = (log: ServiceName, position: bigint): string => `${log}-${position}`;

/**
 * The highest position that the header names in `log`; undefined when it names other logs only,
 * `'malformed'` when any value is not a token.
 */
export function readTokens(header: string, log: ServiceName): bigint | undefined | 'malformed' {
  const tokens = header.split(BETWEEN);
  if (tokens.length > TOKENS_MAX) return 'malformed';
  let highest: bigint | undefined;
  for (const token of tokens) {
    const parts = TOKEN.exec(token);
    if (parts === null) return 'malformed';
    const position = BigInt(parts[2] as string);
    if (position > POSITION_MAX) return 'malformed';
    if (parts[1] === log && (highest === undefined || position > highest)) highest = position;
  }
  return highest;
}

let readersWaiting = 0;

/** The position that the caller has seen, from `X-Service-Consistency`. Undefined if it names none of this log. */
export function positionSeen(
  { group }: Route,
  { headers }: Call,
): bigint | undefined | 'malformed' {
  const header = headers['x-service-consistency'];
  if (header === undefined) return undefined;
  return readTokens(typeof header === 'string' ? header : header.join(','), group.service);
}

/** Waits until the tables of a read have passed the position. Returns it, or why they did not. */
export async function awaitRead(
  { contract, group }: Route,
  { parts }: Call,
  position: bigint | 'malformed',
): Promise<bigint | Refusal> {
  if (position === 'malformed') return refusalOf('invalid_consistency_token');
  const reads = contract.consistency?.reads;
  if (reads === undefined || group.positions === undefined) return position;
  if (readersWaiting >= CONSISTENCY_WAITERS_MAX) return refusalOf('overloaded');
  readersWaiting += 1;
  const stop = parts.metrics.consistencyWait.startTimer();
  try {
    if (await group.positions.reached(reads, position, CONSISTENCY_WAIT_MS)) return position;
    parts.metrics.consistencyTimeouts.inc();
    return refusalOf('not_caught_up');
  } finally {
    readersWaiting -= 1;
    stop();
  }
}

/**
 * Waits after a write so that its client can read the result. A slow projection never turns a success into an error.
 */
export async function awaitWrite({ contract, group }: Route, { parts }: Call, wrote: bigint) {
  const waitsFor = contract.consistency?.waitsFor;
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
