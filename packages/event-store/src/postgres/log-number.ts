import type { Log } from '../event-store.ts';

/** The number of a log in the tables. Stored rows use these numbers, so they never change. */
export const LOG_NUMBERS: Readonly<Record<Log, number>> = {
  identity: 1,
  authz: 2,
  vault: 3,
  approval: 4,
  webhooks: 5,
  audit: 6,
};
