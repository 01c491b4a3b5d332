import { Outage } from '@cardea/runtime';
import type { QueryResultRow } from 'pg';
import type { CopiedRow } from './copied-rows.ts';

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
  /** Receives each row of `COPY … TO STDOUT` when it arrives. The memory of the row is used again after the call. */
  readonly onCopied?: (row: CopiedRow) => void;
};

/** The results of several statements, by the types of their rows. */
export type Answers<Rows extends readonly QueryResultRow[]> = {
  readonly [Index in keyof Rows]: {
    readonly rows: readonly Rows[Index][];
    readonly rowCount: number;
  };
};

/**
 * A connection inside BEGIN … COMMIT. It is rolled back when the callback throws. BEGIN is sent with the first
 * statement, so the first text must contain one statement only.
 */
export interface Transaction extends Queryable {
  /** Sends all in one round trip. The first refusal is thrown, and later statements are not run. */
  together<Rows extends readonly QueryResultRow[]>(
    statements: readonly Statement[],
  ): Promise<Answers<Rows>>;
  /** Does what {@link together} does and sends COMMIT with it. The transaction accepts no more statements. */
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
   * Runs as `cardea_app` with `cardea.tenant` set for this transaction. Row-level security shows only that tenant's
   * rows, even to a query that forgets to filter by tenant.
   */
  asTenant<T>(tenantId: string, work: (sql: Transaction) => Promise<T>): Promise<T>;
  /** Runs as `cardea_system`: projections, consumers, sweepers, and the few lookups without a tenant. */
  asSystem<T>(
    work: (sql: Transaction) => Promise<T>,
    options?: { readonly durable?: boolean },
  ): Promise<T>;
  /**
   * Runs the statements as one transaction in one round trip, without a callback. If one is refused, its error is
   * thrown and nothing has happened. When the connection is lost the outcome is unknown.
   */
  asTenantAtOnce<Rows extends readonly QueryResultRow[]>(
    tenantId: string,
    statements: readonly Statement[],
  ): Promise<Answers<Rows>>;
  asSystemAtOnce<Rows extends readonly QueryResultRow[]>(
    statements: readonly Statement[],
    options?: { readonly durable?: boolean },
  ): Promise<Answers<Rows>>;
  /** Runs one statement of a tenant as a separate transaction, in a single round trip. */
  tenant(tenantId: string): Queryable;
  /** Runs one statement as `cardea_system` and as a separate transaction, in a single round trip. */
  readonly system: Queryable;
  /** Runs `SELECT 1` with a limit of one second. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The database cannot be reached, or no connection came free within 2 s. Answered with 503. */
export class DatabaseUnavailable extends Outage {
  override readonly name = 'DatabaseUnavailable';
}
