import { Outage } from '@cardea/runtime';
import type { QueryResultRow } from 'pg';

/** Runs SQL with `$1` placeholders. Statements with a `name` are prepared once per connection. */
export interface Queryable {
  query<Row extends QueryResultRow = QueryResultRow>(
    sql: string | { readonly name: string; readonly text: string },
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number }>;
}

/** A connection inside BEGIN … COMMIT; rolled back when the callback throws. */
export interface Transaction extends Queryable {}

/**
 * A pool of connections in one role of one process. Tables are named with their schema
 * (`identity.users`).
 */
export interface Database {
  /**
   * Runs as `cardea_app` with `cardea.tenant` set for this transaction: row-level security shows that
   * tenant's rows and no others, also to a query that forgets to name the tenant.
   */
  asTenant<T>(tenantId: string, work: (sql: Transaction) => Promise<T>): Promise<T>;
  /** Runs as `cardea_system`: projections, consumers, sweepers, and the few look-ups without a tenant. */
  asSystem<T>(
    work: (sql: Transaction) => Promise<T>,
    options?: { readonly durable?: boolean },
  ): Promise<T>;
  /** As `cardea_system`, one statement that is a transaction of its own: a single round trip. */
  readonly system: Queryable;
  /** `SELECT 1` within a second. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The database cannot be reached, or no connection came free within 2 s. Answered with 503. */
export class DatabaseUnavailable extends Outage {
  override readonly name = 'DatabaseUnavailable';
}
