/**
 * Elects the one process that may do something: advisory locks of one database session, which also receives
 * notices (LISTEN). When the session ends, all its locks are lost; it reconnects by itself.
 */
import { createHash } from 'node:crypto';
import type { ServiceName } from '@cardea/contracts';
import { otherProcesses, sessionName } from '@cardea/event-store';
import { errorCode, type Lease, type Leases } from '@cardea/log-follower';
import { type Clock, type Logger, outsideTransactions } from '@cardea/runtime';
import { Client } from 'pg';

const RETRY_MS = 1000;
const HEARTBEAT_MS = 3000;
const QUERY_MS = 2000;
const CONNECT_MS = 2000;
const NAMES_MAX = 1000;
/** Other processes' sessions are counted this often. */
const LOOK_EVERY_BEATS = 3;
/** As which the server shows these sessions. */
const SESSION_KIND = 'cardea-leader';
/** Each session says here that it begins to listen. */
const JOINED_CHANNEL = 'cardea_joined';
/** Each session says here that it has given back a lock. */
const RELEASED_CHANNEL = 'cardea_released';

/** Whether other processes may hear what is told on this database. */
export type OtherListeners = {
  /** True also while that is unknown. */
  arePossible(): boolean;
  /** The listener is called when one was heard of, or may have been missed. Returns the function that ends it. */
  onHeard(listener: () => void): () => void;
};

/** A lease is lost when the session ends: another process may already have taken over. */
export interface LeaderLocks extends Leases {
  /** Whether other processes listen, whatever service they run. */
  readonly others: OtherListeners;
  /** Whether other processes listen that run a service which runs here, too. */
  readonly replicas: OtherListeners;
  close(): Promise<void>;
}

export type LeaderLocksOptions = {
  readonly connectionString: string;
  /** The one that runs here; undefined where several do. */
  readonly service?: ServiceName | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Locks and notices over one connection, opened on first use. */
export function leaderLocks(options: LeaderLocksOptions): LeaderLocks {
  return new Session(options);
}

type Waiter = {
  readonly name: string;
  readonly grant: (lease: Lease | undefined) => void;
};
type Held = { readonly lost: AbortController; readonly on: Client };

class Session implements LeaderLocks {
  readonly #options: LeaderLocksOptions;
  readonly #stop = new AbortController();
  readonly #waiters = new Set<Waiter>();
  readonly #held = new Map<string, Held>();
  readonly #listeners = new Map<string, Set<(payload: string | undefined) => void>>();
  #client: Client | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #turning: Promise<void> | undefined;
  #nudge = new AbortController();
  #pid: number | undefined;
  #beatsToLook = 0;
  #connectedAt = 0;
  readonly #others: ReturnType<typeof otherProcesses>;
  readonly #onOthers = new Set<() => void>();
  readonly others: OtherListeners;
  readonly replicas: OtherListeners;

  constructor(options: LeaderLocksOptions) {
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

  listen(channel: string, listener: (payload: string | undefined) => void): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    const own = (payload: string | undefined): void => listener(payload);
    listeners.add(own);
    this.#wake();
    const client = this.#client;
    if (client !== undefined) this.#subscribe(client, channel).catch(() => this.#drop(client));
    return () => {
      listeners.delete(own);
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#nudge.abort();
    for (const waiter of [...this.#waiters]) waiter.grant(undefined);
    await this.#turning;
    const client = this.#client;
    if (client !== undefined) this.#drop(client);
    await client?.end().catch(() => {});
  }

  #wake(): void {
    this.#nudge.abort();
    this.#turning ??= outsideTransactions(() => this.#turn());
  }

  /**
   * Connects, and tries to lock the wanted names, once per second or when a caller wakes it; while nobody
   * wants one, it runs for the heartbeat alone.
   */
  async #turn(): Promise<void> {
    const { clock, log } = this.#options;
    let lastBeat = clock.monotonicMs();
    let failing = false;
    while (!this.#stop.signal.aborted) {
      this.#nudge = new AbortController();
      try {
        const client = this.#client ?? (await this.#connect());
        const due = clock.monotonicMs() - lastBeat >= HEARTBEAT_MS;
        const tried = await this.#tryNames(client);
        if (due && !tried) await this.#beat(client);
        if (due || tried) lastBeat = clock.monotonicMs();
        if (failing) log.info({}, 'leader session is back');
        failing = false;
      } catch (error) {
        if (this.#client !== undefined) this.#drop(this.#client);
        if (!failing) log.warn({ code: errorCode(error) }, 'leader session lost');
        failing = true;
      }
      const beatMs = HEARTBEAT_MS - (clock.monotonicMs() - lastBeat);
      const restMs = failing || this.#waiters.size > 0 ? RETRY_MS : Math.max(1, beatMs);
      await clock.sleep(restMs, failing ? this.#stop.signal : this.#nudge.signal);
    }
  }

  async #connect(): Promise<Client> {
    const client = new Client({
      connectionString: this.#options.connectionString,
      application_name: sessionName(SESSION_KIND, this.#options.service),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
    });
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    client.on('notification', ({ channel, payload, processId }) => {
      if (channel === JOINED_CHANNEL && processId !== this.#pid) this.#heardOthers();
      if (channel === RELEASED_CHANNEL && processId !== this.#pid) this.#wake();
      for (const listener of this.#listeners.get(channel) ?? []) listener(payload ?? '');
    });
    await client.connect();
    this.#client = client;
    this.#connectedAt = this.#options.clock.monotonicMs();
    this.#pid = (client as Client & { readonly processID?: number }).processID;
    this.#heardOthers(); // those that joined while there was no session
    for (const channel of this.#listeners.keys()) await this.#subscribe(client, channel);
    for (const channel of [JOINED_CHANNEL, RELEASED_CHANNEL]) {
      await this.#query(client, `LISTEN ${channel}`);
    }
    await this.#query(client, `NOTIFY ${JOINED_CHANNEL}`);
    return client;
  }

  #heardOthers(): void {
    this.#beatsToLook = 0;
    this.#others.heard();
    for (const listener of [...this.#onOthers]) listener();
  }

  async #beat(client: Client): Promise<void> {
    if (this.#beatsToLook === 0) {
      await this.#others.look(
        async <Row>({ text, values }: { text: string; values?: unknown[] }) => {
          const { rows } = await this.#query<Row & object>(client, text, values);
          return rows;
        },
      );
    } else await this.#query(client, 'SELECT 1');
    this.#beatsToLook = (this.#beatsToLook + LOOK_EVERY_BEATS - 1) % LOOK_EVERY_BEATS;
  }

  async #subscribe(client: Client, channel: string): Promise<void> {
    await this.#query(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    for (const listener of this.#listeners.get(channel) ?? []) listener(undefined);
  }

  /** False when no caller waits for a name that this process does not hold. */
  async #tryNames(client: Client): Promise<boolean> {
    const wanted = new Map<string, Waiter>();
    for (const waiter of this.#waiters) {
      if (!this.#held.has(waiter.name) && !wanted.has(waiter.name)) wanted.set(waiter.name, waiter);
    }
    if (wanted.size === 0) return false;
    const names = [...wanted.keys()];
    const { rows } = await this.#query<{ name: string; mine: boolean }>(
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
        this.#wake(); // another caller of this process may wait for the name
      },
    };
  }

  /** Whoever waits elsewhere hears of it, so that a process that stops leaves no second without a leader. */
  async #unlock(client: Client, name: string): Promise<void> {
    await this.#query(client, 'SELECT pg_advisory_unlock($1::bigint), pg_notify($2, $3)', [
      lockKey(name),
      RELEASED_CHANNEL,
      '',
    ]);
  }

  /** One at a time: the driver wants the response of one query before the next. */
  #query<Row extends object>(client: Client, text: string, values: unknown[] = []) {
    const run = () => client.query<Row & { [column: string]: unknown }>(text, values);
    const answer = this.#queue.then(run, run);
    this.#queue = answer.catch(() => {});
    return answer;
  }

  #drop(client: Client): void {
    if (this.#client === client) {
      this.#client = undefined;
      this.#others.heard(); // one that joins now is not heard
      // Reconnect at once, unless the server ends each new session.
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

/** 64 bits of the name's hash. Locks of other kinds have two 32-bit numbers, which is a separate key space. */
export const lockKey = (name: string): string =>
  createHash('sha256').update(name).digest().readBigInt64BE().toString();
