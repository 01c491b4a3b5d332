/** The driver's pool of one role. Its errors never end the process. */
import type { Clock, Logger } from '@cardea/runtime';
import { Pool } from 'pg';

export type PoolName = 'requests' | 'loops';

export type PoolForm = {
  readonly connectionString: string;
  readonly pool: PoolName;
  readonly size: number;
  readonly statementMs: number;
  readonly settings: { readonly [setting: string]: string | number };
  readonly log: Logger;
  readonly clock: Pick<Clock, 'monotonicMs'>;
};

/** How long a caller waits for a connection before it fails. */
export const CONNECTION_WAIT_MS = 2000;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** Longer than loops pause, because opening a connection costs more than most of their queries. */
const IDLE_CONNECTION_MS = 60_000;

export function driverPool({
  connectionString,
  pool: name,
  size,
  settings,
  statementMs,
  log,
}: PoolForm) {
  const all = {
    ...settings,
    jit: 'off',
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  };
  const pool = new Pool({
    connectionString,
    application_name: `cardea-${name}`,
    max: size,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    keepAlive: true,
    pipeline: true,
    options: Object.entries(all)
      .map(([setting, value]) => `-c ${setting}=${value}`)
      .join(' '),
  });
  // Without listeners an error of a connection would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (error: Error & { code?: string }) => {
    log.warn({ pool: `cardea-${name}`, code: error.code }, 'database connection lost');
  });
  return pool;
}
