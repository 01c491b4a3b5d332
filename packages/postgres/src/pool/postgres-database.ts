/**
 * The database of one process: a pool per role. Connections take their role when they are opened and never change it.
 * No error of a connection ends the process.
 */
import type { ServiceName } from '@cardea/contracts';
import { type Clock, type Logger, systemClock } from '@cardea/runtime';
import { ConnectionPool, type PoolState, type Use } from './connection-pool.ts';
import { type Database, DatabaseUnavailable, type Statement } from './database.ts';
import { rolesOf, TENANT_SETTING } from './role-names.ts';

const POOL_SIZE = 20;
const LOOPS_POOL_SIZE = 4;
const REQUEST_STATEMENT_MS = 10_000;
const LOOP_STATEMENT_MS = 60_000;
const PING_MS = 1000;

export type DatabaseOptions = {
  readonly connectionString: string;
  /**
   * The only service that uses the database, in that service's own roles. Undefined means the roles that reach all
   * schemas.
   */
  readonly service?: ServiceName | undefined;
  /** Connections for requests (`cardea_app`). */
  readonly poolSize?: number;
  /** Connections for loops and lookups without a tenant (`cardea_system`). */
  readonly loopsPoolSize?: number;
  readonly log: Logger;
  /** Measures for how long callers have got no connection. The machine's clock by default. */
  readonly clock?: Pick<Clock, 'monotonicMs'>;
};

export type PostgresDatabase = Database & {
  readonly pools: () => readonly PoolState[];
  /** Sets the number of connections for loops to the number of loops that can work at once. */
  readonly resizeLoops: (size: number) => void;
};

/** Opens no connection. The first call opens the first one. */
export function openDatabase(options: DatabaseOptions): PostgresDatabase {
  const { connectionString, log, clock = systemClock } = options;
  const roles = rolesOf(options.service);
  const requests = new ConnectionPool({
    connectionString,
    log,
    clock,
    pool: 'requests',
    size: options.poolSize ?? POOL_SIZE,
    statementMs: REQUEST_STATEMENT_MS,
    settings: { role: roles.app },
  });
  const loops = new ConnectionPool({
    connectionString,
    log,
    clock,
    pool: 'loops',
    size: options.loopsPoolSize ?? LOOPS_POOL_SIZE,
    statementMs: LOOP_STATEMENT_MS,
    // A cached plan that was made while a table was empty would otherwise stay a full scan. Without these settings the
    // server would also plan each change of rows again, because it assumes that unknown arrays are longer.
    settings: {
      role: roles.system,
      enable_seqscan: 'off',
      plan_cache_mode: 'force_generic_plan',
    },
  });
  return {
    asTenant: (tenantId, work) => requests.transaction(ofTenant(tenantId), work),
    asSystem: (work, options) =>
      loops.transaction(options?.durable === false ? NOT_DURABLE : DURABLE, work),
    asTenantAtOnce: (tenantId, statements) => requests.atOnce(ofTenant(tenantId), statements),
    asSystemAtOnce: (statements, options) =>
      loops.atOnce(options?.durable === false ? NOT_DURABLE : DURABLE, statements),
    tenant: (tenantId) => requests.queryable(ofTenant(tenantId)),
    system: loops.queryable(DURABLE),
    ping: () => ping(requests),
    close: async () => {
      await Promise.all([requests.end(), loops.end()]);
    },
    pools: () => [requests.state(), loops.state()],
    resizeLoops: (size) => loops.resize(size),
  };
}

const ofTenant = (tenantId: string): Use => ({ settings: [tenantIs(tenantId)], tenantId });

const tenantIs = (tenantId: string): Statement => ({
  name: 'tenant_is',
  text: `SELECT set_config('${TENANT_SETTING}', $1, true)`,
  values: [tenantId],
});

const DURABLE: Use = { settings: [] };
const NOT_DURABLE: Use = {
  settings: [{ name: 'not_durable', text: "SELECT set_config('synchronous_commit', 'off', true)" }],
};

async function ping(pool: ConnectionPool): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new DatabaseUnavailable('The database did not answer within 1 s.')),
    PING_MS,
  );
  try {
    await Promise.race([pool.queryable({ settings: [] }).query('SELECT 1'), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
