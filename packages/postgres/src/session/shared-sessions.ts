/**
 * Checks that each connection has its own database session. Role, row-level security, leader locks and notices are
 * state of a session. A pooler in transaction mode mixes them between clients. One that drops startup options leaves a
 * connection in the login role, to which row-level security may not apply.
 */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

const CONNECT_MS = 2_000;
const QUERY_MS = 2_000;
/** The number of sessions that are kept busy one after another until one turns out to be shared. */
const CLIENTS_MAX = 5;
/** The error of a server that refuses a startup parameter, as PgBouncer does for `options`. */
const PROTOCOL_VIOLATION = '08P01';
const PROBE = 'cardea.session_probe';

/** The setting that names the database, for the error message. */
type DatabaseSetting = 'DATABASE_URL' | 'MIGRATION_DATABASE_URL';

export class SharedSessions extends Error {
  override readonly name = 'SharedSessions';
  constructor(setting: DatabaseSetting) {
    super(
      `${setting} leads to a pooler that shares sessions between clients or drops startup options: let it name PostgreSQL itself, or a pooler in session mode that passes "options".`,
    );
  }
}

/** Returns false if the database cannot be asked yet. Throws SharedSessions. */
export async function refuseSharedSessions(
  connectionString: string,
  setting: DatabaseSetting = 'DATABASE_URL',
): Promise<boolean> {
  const clients: Client[] = [];
  const open = async (): Promise<Session> => {
    const probe = randomUUID();
    const client = new Client({
      connectionString,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      options: `-c ${PROBE}=${probe}`,
    });
    client.on('error', () => {}); // The next query fails and reports the error.
    clients.push(client);
    await client.connect();
    return { client, probe };
  };
  try {
    const first = await open();
    const { pid, probe } = await seenBy(first, '');
    if (probe !== first.probe) throw new SharedSessions(setting);
    if (pid === ownPid(first)) return true;
    // There is a pooler in between. A client that begins a transaction gets a session that another client has released.
    for (let n = 0; n < CLIENTS_MAX; n += 1) {
      const next = await open();
      const seen = await seenBy(next, 'BEGIN; ');
      if (seen.pid === pid || seen.probe !== next.probe) throw new SharedSessions(setting);
    }
    return true;
  } catch (error) {
    if (error instanceof SharedSessions) throw error;
    if ((error as { readonly code?: unknown }).code === PROTOCOL_VIOLATION) {
      throw new SharedSessions(setting);
    }
    return false;
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

type Session = { readonly client: Client; readonly probe: string };

/** The process id that the server reported when the connection began. */
const ownPid = ({ client }: Session): number | undefined =>
  (client as Client & { readonly processID?: number }).processID;

async function seenBy({ client }: Session, before: string) {
  const text = `${before}SELECT pg_backend_pid() AS pid, current_setting('${PROBE}', true) AS probe`;
  const answers = await client.query<{ pid: number; probe: string | null }>(text);
  const last = [answers].flat().at(-1);
  return { pid: last?.rows[0]?.pid, probe: last?.rows[0]?.probe ?? undefined };
}
