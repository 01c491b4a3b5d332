/**
 * The one database session of a process for what several processes share: advisory locks, which elect one process, and
 * notices (LISTEN and NOTIFY). When the session ends, all its locks are lost and notices may be missed. It reconnects
 * by itself.
 */
import { createHash } from 'node:crypto';
import type { ServiceName } from '@cardea/contracts';
import {
  type Clock,
  errorCode,
  type Lease,
  type Leases,
  type Logger,
  outsideTransactions,
} from '@cardea/runtime';
import { Client, type QueryConfig, type QueryResultRow } from 'pg';
import { type OtherListeners, type OtherProcesses, otherProcesses } from './other-processes.ts';
import { sessionName } from './session-name.ts';
import { type Listener, subscriptions } from './subscriptions.ts';

const RETRY_MS = 1000;
const HEARTBEAT_MS = 3000;
const QUERY_MS = 2000;
const CONNECT_MS = 2000;
const NAMES_MAX = 1000;
/** The number of heartbeats between two counts of other processes' sessions. */
const LOOK_EVERY_BEATS = 3;
/** The application name of these sessions on the server. */
const SESSION_KIND = 'cardea-leader';
/** The channel on which each session announces that it begins to listen. */
const JOINED_CHANNEL = 'cardea_joined';
/** The channel on which each session announces that it has released a lock. */
const RELEASED_CHANNEL = 'cardea_released';

/** A lease is lost when the session ends: another process may already have taken over. */
export interface ProcessSession extends Leases {
  /**
   * The listener gets the payload and the sender's process id of each notice of other sessions. It gets undefined when
   * the session has begun to listen, since earlier notices may have been missed.
   */
  listen(channel: string, listener: Listener): () => void;
  /**
   * Sends a notice to each channel, and opens the session if there is none. Rejects when it cannot be opened or breaks;
   * then it is unknown whether the notice was sent.
   */
  notify(channels: readonly string[], payload: string): Promise<void>;
  /** Whether other processes listen, whatever service they run. */
  readonly others: OtherListeners;
  /** Whether other processes listen that run a service which runs here, too. */
  readonly replicas: OtherListeners;
  close(): Promise<void>;
}

export type ProcessSessionOptions = {
  readonly connectionString: string;
  /** The service that runs here. Undefined if there are several. */
  readonly service?: ServiceName | undefined;
  readonly clock: Clock;
  readonly log?: Logger | undefined;
};

/** Opened on first use. */
export function processSession(options: ProcessSessionOptions): ProcessSession {
  return new Session(options);
}

type Waiter = {
  readonly name: string;
  readonly grant: (lease: Lease | undefined) => void;
};
type Held = { readonly lost: AbortController; readonly on: Client };

class Session implements ProcessSession {
  readonly #options: ProcessSessionOptions;
  readonly #stop = new AbortController();
  readonly #waiters = new Set<Waiter>();
  readonly #held = new Map<string, Held>();
  readonly #subscriptions = subscriptions();
  #client: Client | undefined;
  #opening: PromiseWithResolvers<Client> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #turning: Promise<void> | undefined;
  #nudge = new AbortController();
  #pid: number | undefined;
  #beatsToLook = 0;
  #connectedAt = 0;
  readonly #others: OtherProcesses;
  readonly #onOthers = new Set<() => void>();
  readonly others: OtherListeners;
  readonly replicas: OtherListeners;

  constructor(options: ProcessSessionOptions) {
    this.#options = options;
    this.#others = otherProcesses({
      kind: SESSION_KIND,
      service: options.service,
      own: () => (this.#pid === undefined ? [] : [this.#pid]),
    });
    const onHeard = (listener: () => void): (() => void) => {
      const own = (): void => listener();
      this.#onOthers.add(own);
      return () => {
        this.#onOthers.delete(own);
      };
    };
    this.others = { arePossible: this.#others.arePossible, onHeard };
    this.replicas = { arePossible: this.#others.areReplicasPossible, onHeard };
  }

  hold(name: string, signal: AbortSignal): Promise<Lease | undefined> {
    if (signal.aborted || this.#stop.signal.aborted) return Promise.resolve(undefined);
    if (this.#waiters.size >= NAMES_MAX) throw new Error('Too many names wait for a lock.');
    return new Promise((resolve) => {
      const abort = (): void => waiter.grant(undefined);
      const waiter: Waiter = {
        name,
        grant: (lease) => {
          this.#waiters.delete(waiter);
          signal.removeEventListener('abort', abort);
          resolve(lease);
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', abort, { once: true });
      this.#wake();
    });
  }

  listen(channel: string, listener: Listener): () => void {
    const end = this.#subscriptions.add(channel, listener);
    this.#wake();
    const client = this.#client;
    if (client !== undefined) this.#subscribe(client).catch(() => this.#drop(client));
    return end;
  }

  async notify(channels: readonly string[], payload: string): Promise<void> {
    const client = this.#client ?? (await this.#opened());
    await this.#query(client, NOTIFY, [channels, payload]).catch((error: unknown) => {
      this.#drop(client);
      throw error;
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#nudge.abort();
    for (const waiter of [...this.#waiters]) waiter.grant(undefined);
    await this.#turning;
    this.#failOpening(new Error('The session was closed.'));
    const client = this.#client;
    if (client !== undefined) this.#drop(client);
    await client?.end().catch(() => {});
  }

  #wake(): void {
    this.#nudge.abort();
    this.#turning ??= outsideTransactions(() => this.#turn());
  }

  #opened(): Promise<Client> {
    if (this.#stop.signal.aborted) return Promise.reject(new Error('The session was closed.'));
    this.#opening ??= Promise.withResolvers<Client>();
    this.#wake();
    return this.#opening.promise;
  }

  #failOpening(error: unknown): void {
    this.#opening?.reject(error);
    this.#opening = undefined;
  }

  /**
   * Connects, and tries to lock the requested names once per second or when a caller wakes it. While no caller requests
   * a name, it only sends heartbeats.
   */
  async #turn(): Promise<void> {
    const { clock, log } = this.#options;
    let lastBeat = Number.NEGATIVE_INFINITY; // The first heartbeat counts other processes.
    let failing = false;
    while (!this.#stop.signal.aborted) {
      this.#nudge = new AbortController();
      try {
        const client = this.#client ?? (await this.#connect());
        const due = clock.monotonicMs() - lastBeat >= HEARTBEAT_MS;
        const tried = await this.#tryNames(client);
        if (due) await this.#beat(client, tried);
        if (due) lastBeat = clock.monotonicMs();
        if (failing) log?.info({}, 'leader session is back');
        failing = false;
      } catch (error) {
        if (this.#client !== undefined) this.#drop(this.#client);
        this.#failOpening(error);
        if (!failing) log?.warn({ code: errorCode(error) }, 'leader session lost');
        failing = true;
      }
      const beatMs = HEARTBEAT_MS - (clock.monotonicMs() - lastBeat);
      const restMs = failing || this.#waiters.size > 0 ? RETRY_MS : Math.max(1, beatMs);
      await clock.sleep(restMs, failing ? this.#stop.signal : this.#nudge.signal);
    }
  }

  async #connect(): Promise<Client> {
    const client = this.#newClient();
    await client.connect();
    this.#client = client;
    this.#connectedAt = this.#options.clock.monotonicMs();
    this.#pid = (client as Client & { readonly processID?: number }).processID;
    this.#heardOthers(); // Includes processes that announced themselves while there was no session.
    this.#subscriptions.forget();
    await this.#subscribe(client);
    for (const channel of [JOINED_CHANNEL, RELEASED_CHANNEL]) {
      await this.#query(client, `LISTEN ${channel}`);
    }
    await this.#query(client, `NOTIFY ${JOINED_CHANNEL}`);
    this.#opening?.resolve(client);
    this.#opening = undefined;
    return client;
  }

  #newClient(): Client {
    const client = new Client({
      connectionString: this.#options.connectionString,
      application_name: sessionName(SESSION_KIND, this.#options.service),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
      options: '-c synchronous_commit=off', // Notices need not survive a crash, so they do not wait for the disk.
    });
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    client.on('notification', ({ channel, payload, processId }) => {
      if (processId === this.#pid) return;
      if (channel === JOINED_CHANNEL) this.#heardOthers();
      if (channel === RELEASED_CHANNEL) this.#wake();
      this.#subscriptions.heard(channel, payload ?? '', processId);
    });
    return client;
  }

  #heardOthers(): void {
    this.#beatsToLook = 0;
    this.#others.heard();
    for (const listener of [...this.#onOthers]) listener();
  }

  /** `tried`: a query has just shown that the session works. */
  async #beat(client: Client, tried: boolean): Promise<void> {
    if (this.#beatsToLook === 0) {
      await this.#others.look((query) => this.#query(client, query));
    } else if (!tried) await this.#query(client, 'SELECT 1');
    this.#beatsToLook = (this.#beatsToLook + LOOK_EVERY_BEATS - 1) % LOOK_EVERY_BEATS;
  }

  #subscribe(client: Client): Promise<void> {
    return this.#inTurn(() => this.#subscriptions.listenOn(client));
  }

  /** Returns false when no caller waits for a name that this process does not hold. */
  async #tryNames(client: Client): Promise<boolean> {
    const wanted = new Map<string, Waiter>();
    for (const waiter of this.#waiters) {
      if (!this.#held.has(waiter.name) && !wanted.has(waiter.name)) wanted.set(waiter.name, waiter);
    }
    if (wanted.size === 0) return false;
    const names = [...wanted.keys()];
    const rows = await this.#query<{ name: string; mine: boolean }>(
      client,
      `SELECT name, pg_try_advisory_lock(key) AS mine FROM unnest($1::text[], $2::bigint[]) AS l(name, key)`,
      [names, names.map(lockKey)],
    );
    for (const { name, mine } of rows) {
      if (!mine) continue;
      const waiter = wanted.get(name);
      if (waiter !== undefined && this.#waiters.has(waiter))
        waiter.grant(this.#lease(name, client));
      else await this.#unlock(client, name);
    }
    return true;
  }

  #lease(name: string, client: Client): Lease {
    const held: Held = { lost: new AbortController(), on: client };
    this.#held.set(name, held);
    return {
      lost: held.lost.signal,
      release: async () => {
        if (this.#held.get(name) !== held) return;
        await this.#unlock(client, name).catch(() => this.#drop(client));
        this.#held.delete(name);
        this.#wake(); // Another caller of this process may wait for the name.
      },
    };
  }

  /**
   * Notifies processes that wait for a lock, so that the stop of a process does not leave a second without a leader.
   */
  async #unlock(client: Client, name: string): Promise<void> {
    await this.#query(client, 'SELECT pg_advisory_unlock($1::bigint), pg_notify($2, $3)', [
      lockKey(name),
      RELEASED_CHANNEL,
      '',
    ]);
  }

  async #query<Row extends QueryResultRow>(
    client: Client,
    query: string | QueryConfig,
    values?: unknown[],
  ): Promise<readonly Row[]> {
    const config: QueryConfig = typeof query === 'string' ? { text: query } : query;
    const sent = values === undefined ? config : { ...config, values };
    return (await this.#inTurn(() => client.query<Row>(sent))).rows;
  }

  /** Runs one query at a time, because the driver needs the response of one before the next. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const answer = this.#queue.then(run, run);
    this.#queue = answer.catch(() => {});
    return answer;
  }

  #drop(client: Client): void {
    if (this.#client === client) {
      this.#client = undefined;
      this.#others.heard(); // Announcements would be missed from now on.
      // Reconnects at once, unless the server ends each new session.
      if (this.#options.clock.monotonicMs() - this.#connectedAt >= RETRY_MS) this.#nudge.abort();
    }
    client.end().catch(() => {});
    for (const [name, held] of [...this.#held]) {
      if (held.on !== client) continue;
      this.#held.delete(name);
      held.lost.abort();
    }
  }
}

const NOTIFY: QueryConfig = {
  name: 'notify',
  text: 'SELECT pg_notify(channel, $2) FROM unnest($1::text[]) AS channel',
};

/** 64 bits of the name's hash. Locks of other kinds have two 32-bit numbers, which is a separate key space. */
export const lockKey = (name: string): string =>
  createHash('sha256').update(name).digest().readBigInt64BE().toString();
