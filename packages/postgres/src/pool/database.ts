import { Outage } from '@cardea/runtime';
import type { QueryResultRow } from 'pg';

export type Sql = string | { readonly name: string; readonly text: string };

/** Runs SQL with `$1` placeholders. Statements with a `name` are prepared once per connection. */
export interface Queryable {
  query<Row extends QueryResultRow = QueryResultRow>(
    sql: Sql,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number }>;
}

export type Statement = {
  /** Statements with a name are prepared once per connection. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /**
   * Its rows are {@link PrintedRow}s: for thousands of rows that are only written out again, because values and
   * objects of each row take most of the time. Times are printed in the zone of the session, unless the statement
   * says otherwise.
   */
  readonly asText?: true;
};

/** What PostgreSQL prints for each column in turn. */
export type PrintedRow = readonly (string | null)[];

/** The answers of several statements, by the types of their rows. */
export type Answers<Rows extends readonly QueryResultRow[]> = {
  readonly [Index in keyof Rows]: {
    readonly rows: readonly Rows[Index][];
    readonly rowCount: number;
  };
};

/**
 * A connection inside BEGIN … COMMIT; rolled back when the callback throws. BEGIN goes with the first
 * statement; the first text must therefore be one statement only.
 */
export interface Transaction extends Queryable {
  /** Sends all in one round trip. The first refusal is thrown, and what comes after it is not run. */
  together<Rows extends readonly QueryResultRow[]>(
    statements: readonly Statement[],
  ): Promise<Answers<Rows>>;
  /** Does what {@link together} does and sends COMMIT along: the transaction takes no more statements. */
  commitWith<Rows extends readonly QueryResultRow[]>(
    statements: readonly Statement[],
  ): Promise<Answers<Rows>>;
}

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
  /**
   * The statements as one transaction in one round trip, without a callback: the first refusal is thrown
   * and nothing has happened. When the connection is lost the outcome is unknown.
   */
  asTenantAtOnce<Rows extends readonly QueryResultRow[]>(
    tenantId: string,
    statements: readonly Statement[],
  ): Promise<Answers<Rows>>;
  asSystemAtOnce<Rows extends readonly QueryResultRow[]>(
    statements: readonly Statement[],
    options?: { readonly durable?: boolean },
  ): Promise<Answers<Rows>>;
  /** One statement of a tenant, a transaction of its own: a single round trip. */
  tenant(tenantId: string): Queryable;
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
