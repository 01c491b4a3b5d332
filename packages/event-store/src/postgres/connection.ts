import {
  Client,
  type ClientConfig,
  DatabaseError,
  type QueryConfig,
  type QueryResultRow,
} from 'pg';
import { EventStoreUnavailable } from '../event-store.ts';

/** Both together stay below the 10 s in which every call of the product ends. */
const CONNECT_TIMEOUT_MS = 4000;
const QUERY_TIMEOUT_MS = 5000;

/**
 * Planner settings of the event store: a poll that was prepared while the table was empty would stay a
 * sequential scan with a sort until the next ANALYZE.
 */
const PLANNER = '-c enable_seqscan=off -c enable_bitmapscan=off';

export type ConnectionOptions = {
  readonly connectionString: string;
  /** The role that the connection acts in; its own when undefined. */
  readonly role?: 'cardea_app' | 'cardea_system' | undefined;
  /** More `-c name=value` settings. */
  readonly settings?: string;
};

export interface Connection {
  /** Throws {@link EventStoreUnavailable} when the server is away, DatabaseError when it refuses. */
  query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** One connection that comes back: made when first used, and again after it broke. One query at a time. */
export function connection(
  options: ConnectionOptions,
  onConnected: (client: Client) => Promise<void> = async () => {},
): Connection {
  const config = clientConfig(options);
  let current: Promise<Client> | undefined;

  const forget = (which: Promise<Client>) => {
    if (current === which) current = undefined;
  };
  const connect = (): Promise<Client> => {
    const client = new Client(config);
    const drop = () => {
      forget(promise);
      client.end().catch(() => {}); // it is broken already
    };
    client.on('error', drop); // without a listener a restarted server would end this process
    client.on('end', () => forget(promise));
    const promise = client
      .connect()
      .then(() => onConnected(client))
      .then(() => client);
    promise.catch(drop);
    return promise;
  };

  return {
    query: async <Row extends QueryResultRow>(query: QueryConfig) => {
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
      const last = current;
      current = undefined;
      await last?.then((client) => client.end()).catch(() => {});
    },
  };
}

function clientConfig({ connectionString, role, settings = '' }: ConnectionOptions): ClientConfig {
  return {
    connectionString,
    options: [PLANNER, role === undefined ? '' : `-c role=${role}`, settings].join(' '),
    application_name: 'cardea event store',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  };
}

/** The server is well and says no: the statement had no effect. All else leaves the outcome unknown. */
function isRefusal(error: unknown): error is DatabaseError {
  if (!(error instanceof DatabaseError) || error.code === undefined) return false;
  const away =
    /^(08|53|57|58|XX)/.test(error.code) || // connection, resources, operator, system, internal
    error.code === '25006'; // read-only: a stand-by that is not yet the primary
  return !away;
}
