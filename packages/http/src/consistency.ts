/** The consistency token names a position in a log; a read that sends it back returns no older state. */
import type { ServiceName } from '@cardea/contracts';

/** What the request pipeline needs of the read side; `Positions` of read-models implements it. */
export interface PositionsPassed {
  /** True when all named projections have passed `position` within `timeoutMs`. */
  reached(projections: readonly string[], position: bigint, timeoutMs: number): Promise<boolean>;
}

/** Longest wait for a projection, after a write and before a read. */
export const CONSISTENCY_WAIT_MS = 2_000;
/** Reads that wait at the same time; one more is answered with 503 `overloaded`. */
export const CONSISTENCY_WAITERS_MAX = 1_000;

const TOKEN = /^([a-z]{2,16})-(0|[1-9][0-9]{0,18})$/;
const TOKENS_MAX = 16;
const BETWEEN = /[ \t]*,[ \t]*/;
/**
 * The token's form in the document. It has one digit less than is accepted: no log will reach that
 * position, and a pattern that ends at 2^63 would not be readable.
 */
const TOLD_TOKEN = '[a-z]{2,16}-(0|[1-9][0-9]{0,17})';
export const CONSISTENCY_PATTERN = `^${TOLD_TOKEN}( ?, ?${TOLD_TOKEN}){0,${TOKENS_MAX - 1}}$`;
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
