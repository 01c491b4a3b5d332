/**
 * Connections of one role. A connection returns to the pool only when the server has confirmed that it is usable.
 * Otherwise it is closed, because queries queued on it might wait forever.
 */
import {
  expectNoTransaction,
  FairQueue,
  type GiveBack,
  metrics,
  outsideTransactions,
  SharedUse,
  systemClock,
  transactionTag,
} from '@cardea/runtime';
import {
  DatabaseError,
  type Pool,
  type PoolClient,
  type QueryConfig,
  type QueryResultRow,
} from 'pg';
import {
  type Answers,
  DatabaseUnavailable,
  type Queryable,
  type Sql,
  type Statement,
  type Transaction,
} from './database.ts';
import { asUnavailable } from './database-errors.ts';
import { CONNECTION_WAIT_MS, driverPool, type PoolForm, type PoolName } from './driver-pool.ts';
import { answersOf, inOneTrip, openTransaction, statementOf } from './one-trip.ts';

/**
 * How many connections are opened at the same time. A busy server opens each of them slowly. If every loop of a
 * starting process opened its own at once, all would time out and try again.
 */
const OPENING_MAX = 4;
/** The time limit of a ROLLBACK. One that takes longer is queued after a query that may never end. */
const ROLLBACK_MS = 2000;
/** The time added to the server's own limit of a statement. After it no response is expected any more. */
const ANSWER_SLACK_MS = 5000;
/**
 * Callers that get no connection try again within this time. If no caller has tried for longer, nobody needs the pool.
 */
const ASKED_RECENTLY_MS = 15_000;
/**
 * Connections that a tenant's requests may use per free connection. A tenant that is alone gets three quarters of all,
 * and its further requests wait: a deployment of one tenant needs nearly all of them. While others use the database it
 * gets a quarter, because more concurrent statements of one tenant would slow down those of the others.
 */
const PER_FREE_CONNECTION = { alone: 3, shared: 1 / 3 };
/** The most requests, over all tenants, that may wait for a connection. */
const REQUESTS_WAITING_MAX = 4_096;
/** The driver's message when no connection came free. For an unavailable server it has another one. */
const NONE_CAME_FREE = 'timeout exceeded when trying to connect';

/** The driver's time limit of a query in milliseconds, which its types lack. */
type Limited = QueryConfig & { readonly query_timeout: number };

/** The user of connections, and the statements that begin each transaction. */
export type Use = {
  readonly settings: readonly Statement[];
  /** The tenant whose share it counts against. Work of loops has none. */
  readonly tenantId?: string;
};

export type PoolState = {
  readonly pool: PoolName;
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
  /** The time for which callers have been waiting without any of them getting a connection. 0 when the pool works. */
  readonly silentMs: number;
};

export class ConnectionPool {
  readonly #form: PoolForm;
  readonly #pool: Pool;
  readonly #limitMs: number;
  #size: number;
  /** The number of connections that were opened and not closed. */
  #open = 0;
  readonly #clock: PoolForm['clock'];
  /**
   * Connections that did not answer a ROLLBACK. The driver may still consider them idle, because BEGIN is sent with the
   * first statement.
   */
  readonly #silent = new WeakSet<PoolClient>();
  readonly #shares: FairQueue;
  readonly #sharedUse = new SharedUse(systemClock);
  #isShared = false;
  /** The time of the first request since a connection was last given out. */
  #askedSinceMs: number | undefined;
  #lastAskMs = Number.NEGATIVE_INFINITY;

  constructor(form: PoolForm) {
    this.#form = form;
    this.#clock = form.clock;
    this.#pool = driverPool(form);
    this.#size = form.size;
    this.#limitMs = form.statementMs + ANSWER_SLACK_MS;
    this.#shares = new FairQueue(
      {
        places: form.size,
        perFreePlace: () => PER_FREE_CONNECTION[this.#isShared ? 'shared' : 'alone'],
        waitingMax: REQUESTS_WAITING_MAX,
        waitMaxMs: CONNECTION_WAIT_MS,
      },
      systemClock,
    );
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

  /** Sets the size. Connections above it are closed when they are returned. */
  resize(size: number): void {
    this.#size = size;
    this.#limit();
  }

  /** Each statement is a separate transaction. Settings are sent with it. */
  queryable(use: Use): Queryable {
    if (use.settings.length === 0) {
      return {
        query: (sql, values) => this.#use(use, (client) => this.#query(client, sql, values)),
      };
    }
    return {
      query: async <Row extends QueryResultRow>(sql: Sql, values?: readonly unknown[]) => {
        const [answer] = await this.atOnce<[Row]>(use, [statementOf(sql, values)]);
        return answer;
      },
    };
  }

  /** One transaction in one round trip. */
  atOnce<Rows extends readonly QueryResultRow[]>(
    use: Use,
    statements: readonly Statement[],
  ): Promise<Answers<Rows>> {
    return this.#use(use, async (client) => {
      const answers = await inOneTrip(client, [...use.settings, ...statements], this.#limitMs);
      return answersOf<Rows>(answers.slice(use.settings.length));
    });
  }

  transaction<T>(use: Use, work: (sql: Transaction) => Promise<T>): Promise<T> {
    return this.#use(use, async (client) => {
      const mark = transactionTag();
      const sql = openTransaction(use.settings, {
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
    const { totalCount: total, idleCount: idle } = this.#pool;
    const silentMs = this.#silentMs();
    return { pool: this.#form.pool, total, idle, waiting: this.#waiting, silentMs };
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  #limit(): void {
    this.#pool.options.max = Math.min(this.#size, this.#open + OPENING_MAX);
  }

  /** Opens one more connection, because the driver would only do so for a new caller or a returned connection. */
  #openForTheWaiting(): void {
    const { waitingCount, totalCount, options } = this.#pool;
    if (waitingCount === 0 || totalCount >= options.max) return;
    outsideTransactions(() => this.#pool.connect()).then(
      (client) => client.release(),
      () => undefined,
    );
  }

  get #waiting(): number {
    return this.#pool.waitingCount + this.#shares.waiting;
  }

  #silentMs(): number {
    const now = this.#clock.monotonicMs();
    const isAsked = this.#waiting > 0 || now - this.#lastAskMs < ASKED_RECENTLY_MS;
    return this.#askedSinceMs === undefined || !isAsked ? 0 : now - this.#askedSinceMs;
  }

  async #use<T>({ tenantId }: Use, work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (tenantId === undefined) return await this.#on(await this.#connection(), work);
    this.#isShared = this.#sharedUse.by(tenantId);
    const leave = this.#shares.takeNow(tenantId) ?? (await this.#turnOf(tenantId));
    try {
      return await this.#on(await this.#connection(), work);
    } finally {
      leave();
    }
  }

  async #turnOf(tenantId: string): Promise<GiveBack> {
    this.#asked();
    const leave = await this.#shares.take(tenantId);
    if (leave !== undefined) return leave;
    metrics.poolTimeouts.inc({ pool: this.#form.pool });
    throw new DatabaseUnavailable('No database connection for this tenant within 2 s.');
  }

  #asked(): void {
    this.#lastAskMs = this.#clock.monotonicMs();
    this.#askedSinceMs ??= this.#lastAskMs;
  }

  async #on<T>(client: PoolClient, work: (client: PoolClient) => Promise<T>): Promise<T> {
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
    this.#asked();
    try {
      const client = await outsideTransactions(() => this.#pool.connect());
      this.#askedSinceMs = this.#waiting > 0 ? this.#clock.monotonicMs() : undefined;
      return client;
    } catch (error) {
      if (error instanceof Error && error.message === NONE_CAME_FREE) {
        metrics.poolTimeouts.inc({ pool });
      } else {
        this.#askedSinceMs = undefined; // The server is unavailable, which readiness shows.
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
}

/** True when the server has refused the statement. After any other error it may still be running. */
const isAnswer = (error: unknown): boolean =>
  error instanceof DatabaseError && asUnavailable(error) === error;

/** Returns false if there is no answer in time. */
async function isRolledBack(client: PoolClient): Promise<boolean> {
  const query: Limited = { text: 'ROLLBACK', query_timeout: ROLLBACK_MS };
  return await client.query(query).then(
    () => true,
    () => false,
  );
}
