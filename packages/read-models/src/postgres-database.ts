/**
 * The database as one process sees it: a pool per role, whose connections take their role when they are
 * made, so that no connection ever changes sides; and no error of a connection ends the process.
 */
import type { Logger } from '@cardea/runtime';
import { Pool, type PoolClient } from 'pg';
import {
  type Database,
  DatabaseUnavailable,
  type Queryable,
  type Transaction,
} from './database.ts';
import { asUnavailable } from './database-errors.ts';
import { APP_ROLE, SYSTEM_ROLE, TENANT_SETTING } from './roles.ts';

const POOL_SIZE = 20;
const LOOPS_POOL_SIZE = 4;
const CONNECTION_WAIT_MS = 2000;
const REQUEST_STATEMENT_MS = 10_000;
const LOOP_STATEMENT_MS = 60_000;
const IDLE_IN_TRANSACTION_MS = 60_000;
const PING_MS = 1000;

export type DatabaseOptions = {
  readonly connectionString: string;
  /** Connections for requests (`cardea_app`). */
  readonly poolSize?: number;
  /** Connections for loops and look-ups without a tenant (`cardea_system`). */
  readonly loopsPoolSize?: number;
  readonly log: Logger;
};

export type PoolState = {
  readonly pool: 'requests' | 'loops';
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
};

export type PostgresDatabase = Database & { readonly pools: () => readonly PoolState[] };

/** Opens no connection yet: the first one is made by the first call. */
export function openDatabase(options: DatabaseOptions): PostgresDatabase {
  const { log } = options;
  const requests = openPool(options.connectionString, log, {
    name: 'cardea-requests',
    size: options.poolSize ?? POOL_SIZE,
    settings: { role: APP_ROLE, jit: 'off', statement_timeout: REQUEST_STATEMENT_MS },
  });
  const loops = openPool(options.connectionString, log, {
    name: 'cardea-loops',
    size: options.loopsPoolSize ?? LOOPS_POOL_SIZE,
    settings: {
      role: SYSTEM_ROLE,
      jit: 'off',
      statement_timeout: LOOP_STATEMENT_MS,
      // A plan that was made while a table was empty, and is kept, would scan it for ever.
      enable_seqscan: 'off',
    },
  });
  const state = (pool: 'requests' | 'loops', of: Pool): PoolState => ({
    pool,
    total: of.totalCount,
    idle: of.idleCount,
    waiting: of.waitingCount,
  });
  return {
    // One trip for both: the tenant goes in as an escaped literal, since a parameter would need a second.
    asTenant: (tenantId, work) =>
      inTransaction(
        requests,
        (client) =>
          `BEGIN; SELECT set_config('${TENANT_SETTING}', ${client.escapeLiteral(tenantId)}, true)`,
        work,
      ),
    asSystem: (work, { durable = true } = {}) =>
      inTransaction(
        loops,
        () => (durable ? 'BEGIN' : 'BEGIN; SET LOCAL synchronous_commit = off'),
        work,
      ),
    system: {
      query: (sql, values) => withClient(loops, (client) => queryable(client).query(sql, values)),
    },
    ping: () => ping(requests),
    close: async () => {
      await Promise.all([requests.end(), loops.end()]);
    },
    pools: () => [state('requests', requests), state('loops', loops)],
  };
}

type PoolForm = {
  readonly name: string;
  readonly size: number;
  readonly settings: { readonly [setting: string]: string | number };
};

function openPool(connectionString: string, log: Logger, form: PoolForm): Pool {
  const settings = {
    ...form.settings,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  };
  const pool = new Pool({
    connectionString,
    application_name: form.name,
    max: form.size,
    connectionTimeoutMillis: CONNECTION_WAIT_MS,
    keepAlive: true,
    options: Object.entries(settings)
      .map(([setting, value]) => `-c ${setting}=${value}`)
      .join(' '),
  });
  // Without listeners an error of a connection, idle or in use, would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (error: Error & { code?: string }) => {
    log.warn({ pool: form.name, code: error.code }, 'database connection lost');
  });
  return pool;
}

async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new DatabaseUnavailable('No database connection within 2 s.', { cause: error });
  });
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    const mapped = asUnavailable(error);
    broken = mapped instanceof DatabaseUnavailable;
    throw mapped;
  } finally {
    client.release(broken);
  }
}

function inTransaction<T>(
  pool: Pool,
  begin: (client: PoolClient) => string,
  work: (sql: Transaction) => Promise<T>,
): Promise<T> {
  return withClient(pool, async (client) => {
    try {
      await client.query(begin(client));
      const result = await work({ ...queryable(client), client });
      const { command } = await client.query('COMMIT');
      // Postgres answers COMMIT of a failed transaction with ROLLBACK: someone swallowed the error.
      if (command !== 'COMMIT') throw new Error('The transaction had failed and was rolled back.');
      return result;
    } catch (error) {
      if (!(asUnavailable(error) instanceof DatabaseUnavailable)) await client.query('ROLLBACK');
      throw error;
    }
  });
}

const queryable = (client: PoolClient): Queryable => ({
  query: async (sql, values) => {
    const named = typeof sql === 'string' ? { text: sql } : sql;
    const { rows, rowCount } = await client.query({ ...named, values: values as unknown[] });
    return { rows, rowCount: rowCount ?? 0 };
  },
});

async function ping(pool: Pool): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new DatabaseUnavailable('The database did not answer within 1 s.')),
    PING_MS,
  );
  try {
    await Promise.race([withClient(pool, (client) => client.query('SELECT 1')), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
