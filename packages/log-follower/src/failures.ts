import { Outage } from '@cardea/runtime';

/**
 * The only classification of failures. An outage says nothing about an event: a dependency is unavailable,
 * busy or not migrated yet, or two transactions conflicted. It is waited out, however long it takes. Any
 * other failure is attributed to the event, and parks its stream.
 *
 * Of PostgreSQL's errors, only those about values are attributed to the event. The text of a statement is
 * the same for all events, so a missing table or column would otherwise park every stream.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof Outage || isConnectionLost(error)) return true;
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) && !BLAMES_VALUES.test(code);
}

/** The server cannot be reached, or the connection broke; the driver gives some of these errors no code. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return SOCKET_CODES.has(code);
  return error instanceof Error && DRIVER_MESSAGE.test(error.message);
}

/** What may be logged of an error: its code or its name, never its message, which may quote data. */
export function errorCode(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : 'Error');
}

/** A wait ran out: a table or an index still lags behind its log. */
export class NotCaughtUp extends Outage {
  override readonly name = 'NotCaughtUp';
}

const SOCKET_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const DRIVER_MESSAGE =
  /^(Connection terminated|timeout|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool)/;
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;
/** Data exception, integrity, cardinality, program limit, raised by our own triggers and functions. */
const BLAMES_VALUES = /^(22|23|21000|54|P0001)/;

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
