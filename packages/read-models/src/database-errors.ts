/**
 * Errors of the driver fall into three kinds: the database is away (503, try again), the statement cannot
 * work with this schema or at this moment (try again, and say so), the data is not what the table takes.
 */
import { DatabaseUnavailable } from './database.ts';

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

/** SQLSTATE classes and codes under which a server takes no work, or no writes. */
const AWAY = /^(08|53|57P0|58|25006$|57014$|25P03$)/;

/** Messages of the driver's own errors, which carry no code. */
const DRIVER_MESSAGE =
  /^(Connection terminated|timeout exceeded|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool)/;

/** The error as it is, or as {@link DatabaseUnavailable} with the driver's as cause. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseUnavailable) return error;
  const code = codeOf(error);
  const away =
    code === undefined
      ? DRIVER_MESSAGE.test(error.message)
      : SOCKET_CODES.has(code) || AWAY.test(code);
  return away ? new DatabaseUnavailable('The database is not available.', { cause: error }) : error;
}

/** SQLSTATE classes that blame the values: data exception, integrity, too long, malformed. */
const DATA = /^(22|23|21000|54000|P0001)/;
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** True when the statement would fail again with the same rows, and work with others. */
export function blamesData(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) && DATA.test(code);
}

export const isDatabaseError = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || SQLSTATE.test(codeOf(error) ?? '');

/** SQLSTATE, error code or class name: what may stand in a log and a row. */
export const errorCode = (error: unknown): string =>
  codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
