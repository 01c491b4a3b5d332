import { sessionName } from '@cardea/postgres';
import {
  Client,
  type ClientConfig,
  DatabaseError,
  type QueryConfig,
  type QueryResultRow,
} from 'pg';
import { EventStoreUnavailable, type Log } from '../event-store.ts';

/** Together these limits are below the 10 s within which every call of the product ends. */
const CONNECT_TIMEOUT_MS = 4000;
const QUERY_TIMEOUT_MS = 5000;
/** The application name of the event stores' sessions on the server. */
const SESSION_KIND = 'cardea event store';

/**
 * Planner settings of the event store. Without them, a poll that was prepared while the table was empty would stay a
 * sequential scan with a sort until the next ANALYZE. With them there is one plan, whatever the values, so it is made
 * once. By default the server would plan a read of a few streams each time, because it assumes that an unknown array is
 * longer.
 */
const PLANNER =
  '-c enable_seqscan=off -c enable_bitmapscan=off -c plan_cache_mode=force_generic_plan';

export type ConnectionOptions = {
  readonly connectionString: string;
  /** The role that the connection takes. Undefined means the login role. */
  readonly role?: string | undefined;
  /** The service that runs in this process. Undefined if there are several. */
  readonly service?: Log | undefined;
};

export interface Connection {
  /** Throws {@link EventStoreUnavailable} when the server is unavailable, DatabaseError when it refuses. */
  query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]>;
  /** Permanent: a later query is refused, because it would connect again and keep the process alive. */
  close(): Promise<void>;
}

/** The server's session ids of one store's connections. */
export function ownConnections() {
  const pids = new Set<number>();
  return {
    add: (client: Client): void => {
      const { processID: pid } = client as Client & { readonly processID?: number };
      if (pid === undefined) return;
      pids.add(pid);
      client.on('end', () => pids.delete(pid));
    },
    has: (pid: number | undefined): boolean => pid !== undefined && pids.has(pid),
  };
}
export type OwnConnections = ReturnType<typeof ownConnections>;

/** A connection that reconnects. It is opened on first use, and again after it broke. It runs one query at a time. */
export function connection(
  options: ConnectionOptions,
  onConnected: (client: Client) => void = () => {},
): Connection {
  const config = clientConfig(options);
  let current: Promise<Client> | undefined;
  let isClosed = false;

  const forget = (which: Promise<Client>) => {
    if (current === which) current = undefined;
  };
  const connect = (): Promise<Client> => {
    const client = new Client(config);
    const drop = () => {
      forget(promise);
      client.end().catch(() => {}); // The connection is broken already.
    };
    client.on('error', drop); // Without a listener, a server restart would end this process.
    client.on('end', () => forget(promise));
    const promise = client.connect().then(() => {
      onConnected(client);
      return client;
    });
    promise.catch(drop);
    return promise;
  };

  return {
    query: async <Row extends QueryResultRow>(query: QueryConfig) => {
      if (isClosed) throw new EventStoreUnavailable('the event store was closed');
      current ??= connect();
      const mine = current;
      try {
        const client = await mine;
        return (await client.query<Row>(query)).rows;
      } catch (error) {
        if (isRefusal(error)) throw error;
        forget(mine);
        mine.then((client) => client.end()).catch(() => {});
        throw new EventStoreUnavailable('the event store cannot be reached', { cause: error });
      }
    },
    close: async () => {
      isClosed = true;
      const last = current;
      current = undefined;
      await last?.then((client) => client.end()).catch(() => {});
    },
  };
}

function clientConfig(options: ConnectionOptions): ClientConfig {
  const { connectionString, role, service } = options;
  return {
    connectionString,
    options: [PLANNER, role === undefined ? '' : `-c role=${role}`].join(' '),
    application_name: sessionName(SESSION_KIND, service),
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  };
}

/** The server works and refuses, so the statement had no effect. After any other error the outcome is unknown. */
function isRefusal(error: unknown): error is DatabaseError {
  if (!(error instanceof DatabaseError) || error.code === undefined) return false;
  const away =
    /^(08|53|57|58|XX)/.test(error.code) || // Error classes: connection, resources, operator, system, internal.
    error.code === '25006'; // Read-only: a standby that has not been promoted yet.
  return !away;
}
