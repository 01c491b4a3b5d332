import { isConnectionLost } from '@cardea/runtime';
import { DatabaseUnavailable } from './database.ts';

/** SQLSTATE classes and codes with which a server refuses all work, or all writes. */
const AWAY = /^(08|53|57P0|58|25006$|57014$|25P03$)/;

/** The same error, or {@link DatabaseUnavailable} with the driver's error as cause. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseUnavailable) return error;
  const away =
    isConnectionLost(error) ||
    ('code' in error && typeof error.code === 'string' && AWAY.test(error.code));
  return away ? new DatabaseUnavailable('The database is not available.', { cause: error }) : error;
}
