import { Outage } from '@cardea/runtime';

/**
 * The one classification of failures. An outage says nothing about an event: something is away, busy,
 * not migrated yet, or two transactions met. It is waited out, however long. Every other failure is the
 * event's, and parks its stream.
 *
 * Of what PostgreSQL answers, only what it says of the values is the event's. The text of a statement is
 * the same for all events, so a missing table or column would park every stream.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof Outage || isConnectionLost(error)) return true;
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) && !BLAMES_VALUES.test(code);
}

/** The peer cannot be reached, or the connection broke off; the driver gives some of these no code. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return SOCKET_CODES.has(code);
  return error instanceof Error && DRIVER_MESSAGE.test(error.message);
}

/** What may be written down of an error: its code or its name, never its message, which may quote data. */
export function errorCode(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : 'Error');
}

/** What has to come first has not come in time: a table or an index lags behind its log. */
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
/** Data exception, integrity, more rows than one, program limit, raised by a rule of ours. */
const BLAMES_VALUES = /^(22|23|21000|54|P0001)/;

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
