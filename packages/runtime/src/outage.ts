/**
 * A dependency of the work is unavailable, busy or not started yet. The error says nothing about the work,
 * which is tried again. Every error of this kind extends this one.
 */
export class Outage extends Error {
  override readonly name: string = 'Outage';
}

/** Whether the server cannot be reached, or the connection broke. The driver gives some of these errors no code. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return SOCKET_CODES.has(code);
  return error instanceof Error && DRIVER_MESSAGE.test(error.message);
}

/** Returns the part of an error that may be logged: its code or its name, never its message, which may quote data. */
export function errorCode(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : 'Error');
}

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
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
