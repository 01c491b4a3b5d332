/**
 * Connections of one role. A connection returns to the pool only when the server has confirmed that it is
 * usable; otherwise it is closed, because queries queued on it might wait for ever.
 */
import {
  expectNoTransaction,
  type Logger,
  metrics,
  outsideTransactions,
  transactionTag,
} from '@cardea/runtime';
import { DatabaseError, Pool, type PoolClient, type QueryConfig, type QueryResultRow } from 'pg';
import {
  type Answers,
  DatabaseUnavailable,
  type Queryable,
  type Sql,
  type Statement,
  type Transaction,
} from './database.ts';
import { asUnavailable } from './database-errors.ts';
import { answersOf, inOneTrip } from './one-trip.ts';
import { openTransaction, statementOf } from './open-transaction.ts';

const CONNECTION_WAIT_MS = 2000;
/**
 * So many are opened at the same time. A server that has much to do opens each of them late: if every loop of a
 * starting process opened its own at once, none would be there in time, and all would try again.
 */
const OPENING_MAX = 4;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** Longer than loops rest: opening a connection costs more than what most of them look for. */
const IDLE_CONNECTION_MS = 60_000;
/** A ROLLBACK that takes longer is queued after a query that may never end. */
const ROLLBACK_MS = 2000;
/** Time added to the server's own limit of a statement: after it no response is expected any more. */
const ANSWER_SLACK_MS = 5000;
/** A caller that got no connection tries again within this time; without one, nobody needs the pool. */
const ASKED_RECENTLY_MS = 15_000;
/** The driver's message when no connection came free; for an unavailable server it has another one. */
const NONE_CAME_FREE = 'timeout exceeded when trying to connect';

/** The driver's time limit of a query in milliseconds, which its types lack. */
type Limited = QueryConfig & { readonly query_timeout: number };

export type PoolName = 'requests' | 'loops';

export type PoolForm = {
  readonly connectionString: string;
  readonly pool: PoolName;
  readonly size: number;
  readonly statementMs: number;
  readonly settings: { readonly [setting: string]: string | number };
  readonly log: Logger;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
};

export type PoolState = {
  readonly pool: PoolName;
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
  /** For how long callers have been waiting and none has got a connection; 0 when the pool works. */
  readonly silentMs: number;
};

export class ConnectionPool {
  readonly #form: PoolForm;
  readonly #pool: Pool;
  #size: number;
  /** Those that were opened and are not closed. */
  #open = 0;
  readonly #now: () => number;
  /** Did not answer a ROLLBACK. The driver may still call them idle: BEGIN goes with the first statement. */
  readonly #silent = new WeakSet<PoolClient>();
  /** The first request since a connection was last given out. */
  #askedSinceMs: number | undefined;
  #lastAskMs = Number.NEGATIVE_INFINITY;

  constructor(form: PoolForm) {
    this.#form = form;
    this.#now = form.now;
    this.#pool = driverPool(form);
    this.#size = form.size;
    this.#pool.on('connect', () => {
      this.#open += 1;
      this.#limit();
      this.#openForTheWaiting();
    });
    this.#pool.on('remove', () => {
      this.#open -= 1;
      this.#limit();
    });
    this.#limit();
    metrics.poolTimeouts.inc({ pool: form.pool }, 0);
  }

  /** Sets the size; connections above it are closed when they are returned. */
  resize(size: number): void {
    this.#size = size;
    this.#limit();
  }

  /** Each statement is a transaction of its own; with settings they go with it. */
  queryable(settings: readonly Statement[]): Queryable {
    if (settings.length === 0) {
      return { query: (sql, values) => this.#use((client) => this.#query(client, sql, values)) };
    }
    return {
      query: async <Row extends QueryResultRow>(sql: Sql, values?: readonly unknown[]) => {
        const [answer] = await this.atOnce<[Row]>(settings, [statementOf(sql, values)]);
        return answer;
      },
    };
  }

  /** One transaction in one round trip. */
  atOnce<Rows extends readonly QueryResultRow[]>(
    settings: readonly Statement[],
    statements: readonly Statement[],
  ): Promise<Answers<Rows>> {
    return this.#use(async (client) => {
      const answers = await inOneTrip(client, [...settings, ...statements], this.#limitMs);
      return answersOf<Rows>(answers.slice(settings.length));
    });
  }

  transaction<T>(
    settings: readonly Statement[],
    work: (sql: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#use(async (client) => {
      const mark = transactionTag();
      const sql = openTransaction(settings, {
        together: (statements) => inOneTrip(client, statements, this.#limitMs),
        query: (text, values) => this.#query(client, text, values),
      });
      try {
        const result = await mark.run(() => work(sql));
        await sql.end();
        return result;
      } catch (error) {
        if (isAnswer(error) && !(await isRolledBack(client))) this.#silent.add(client);
        throw error;
      } finally {
        mark.close();
      }
    });
  }

  state(): PoolState {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { pool: this.#form.pool, total, idle, waiting, silentMs: this.#silentMs() };
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  #limit(): void {
    this.#pool.options.max = Math.min(this.#size, this.#open + OPENING_MAX);
  }

  /** One more than before may be opened now; the driver would wait for a new caller or for one that returns. */
  #openForTheWaiting(): void {
    const { waitingCount, totalCount, options } = this.#pool;
    if (waitingCount === 0 || totalCount >= options.max) return;
    outsideTransactions(() => this.#pool.connect()).then(
      (client) => client.release(),
      () => undefined,
    );
  }

  #silentMs(): number {
    const now = this.#now();
    const isAsked = this.#pool.waitingCount > 0 || now - this.#lastAskMs < ASKED_RECENTLY_MS;
    return this.#askedSinceMs === undefined || !isAsked ? 0 : now - this.#askedSinceMs;
  }

  async #use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connection();
    let usable = false;
    try {
      const result = await work(client);
      usable = true;
      return result;
    } catch (error) {
      const isIdle = client.getTransactionStatus() === 'I' && !this.#silent.has(client);
      usable = isAnswer(error) && isIdle;
      throw asUnavailable(error);
    } finally {
      client.release(!usable);
    }
  }

  async #connection(): Promise<PoolClient> {
    const { pool, log } = this.#form;
    expectNoTransaction(`a connection of the pool for ${pool}`, log);
    this.#lastAskMs = this.#now();
    this.#askedSinceMs ??= this.#lastAskMs;
    try {
      const client = await outsideTransactions(() => this.#pool.connect());
      this.#askedSinceMs = this.#pool.waitingCount > 0 ? this.#now() : undefined;
      return client;
    } catch (error) {
      if (error instanceof Error && error.message === NONE_CAME_FREE) {
        metrics.poolTimeouts.inc({ pool });
      } else {
        this.#askedSinceMs = undefined; // the server is unavailable, which readiness shows
      }
      throw new DatabaseUnavailable('No database connection within 2 s.', { cause: error });
    }
  }

  async #query<Row extends QueryResultRow>(
    client: PoolClient,
    sql: Sql,
    values?: readonly unknown[],
  ) {
    const query: Limited = {
      ...(typeof sql === 'string' ? { text: sql } : sql),
      values: values as unknown[],
      query_timeout: this.#limitMs,
    };
    const { rows, rowCount } = await client.query<Row>(query);
    return { rows, rowCount: rowCount ?? 0 };
  }

  get #limitMs(): number {
    return this.#form.statementMs + ANSWER_SLACK_MS;
  }
}

/** True when the server has refused the statement; after any other error it may still be running. */
const isAnswer = (error: unknown): boolean =>
  error instanceof DatabaseError && asUnavailable(error) === error;

/** False without an answer in time. */
async function isRolledBack(client: PoolClient): Promise<boolean> {
  const query: Limited = { text: 'ROLLBACK', query_timeout: ROLLBACK_MS };
  return await client.query(query).then(
    () => true,
    () => false,
  );
}

function driverPool({ connectionString, pool: name, size, settings, statementMs, log }: PoolForm) {
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
