import { Outage } from '@cardea/runtime';

/**
 * Failures that say nothing about an event: the database, the cache or the network is away, or two
 * transactions met. They are waited out; every other failure parks the event's stream.
 */
export const isPassing = (error: unknown): boolean => {
  if (error instanceof Outage) return true;
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (typeof name === 'string' && PASSING_NAMES.has(name)) return true;
  if (typeof code !== 'string') return LOST_CONNECTION.test(String((error as Error)?.message));
  return PASSING_SYSTEM_CODES.has(code) || PASSING_SQLSTATES.test(code);
};

const PASSING_NAMES = new Set([
  'DatabaseUnavailable',
  'EventStoreUnavailable',
  'CacheUnavailable',
  'WriteContention',
  'FailPointReached',
  'MovedMeanwhile',
]);
const PASSING_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/**
 * Connection (08), read-only (25), no such schema, table or right (3F, 42P01, 42501), rolled back by a
 * meeting (40), out of resources (53), lock not had (55), operator (57), system (58), bug (XX).
 */
const PASSING_SQLSTATES = /^(?:(?:08|25|3F|40|53|55|57|58|XX)[0-9A-Z]{3}|42P01|42501)$/;
/** `pg` gives a connection that breaks off in the middle no code. */
const LOST_CONNECTION =
  /^(?:Connection terminated|Client has encountered a connection error|timeout)/;

/** What may be written down of an error: its code or its name, never its message, which may quote data. */
export const errorCode = (error: unknown): string => {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (typeof code === 'string') return code;
  return typeof name === 'string' ? name : 'Error';
};
