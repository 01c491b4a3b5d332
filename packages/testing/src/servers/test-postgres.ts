/**
 * One PostgreSQL for one test run: the one that CARDEA_TEST_DATABASE_URL names, otherwise a local one in a temporary
 * folder. It is migrated once, into a template that every test file gets a copy of.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalPostgresError, startLocalPostgres } from '@cardea/local-postgres';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { sweepLeftClusters, TEMPORARY_PREFIX, writeClusterNote } from './left-clusters.ts';
import { type Missing, type Started, takeVariable, withoutServer } from './run-server.ts';

/** Some tests run six services at once, whose idle connections stay for a minute, and test files run in parallel. */
const CONNECTIONS_MAX = '600';

/** The information that test files need about the run's server. */
export type PostgresOfRun = { readonly url: string; readonly template: string } | Missing;

/** Migrates the empty database of this URL to the current schema. */
export type MigrateTemplate = (url: string) => Promise<void>;

type RunningPostgres = Started<PostgresOfRun>;

/** The variable of a server with its template that the runner of several projects shares between them. */
const HANDED_DOWN = 'POSTGRES_OF_RUN';
const GIVEN_URL = 'CARDEA_TEST_DATABASE_URL';

/** Throws when there is no server and CARDEA_REQUIRE names postgres. */
export async function startPostgresOfRun(migrate: MigrateTemplate): Promise<RunningPostgres> {
  const handedDown = takeVariable(HANDED_DOWN);
  const given = takeVariable(GIVEN_URL);
  if (handedDown !== undefined) {
    return { info: JSON.parse(handedDown), stop: async () => undefined };
  }
  if (given !== undefined) return onServer(given, migrate, () => undefined);
  try {
    const server = await localServer();
    return await onServer(server.url, migrate, server.stop);
  } catch (error) {
    if (!(error instanceof LocalPostgresError)) throw error;
    return withoutServer('postgres', `no PostgreSQL: ${error.message}`);
  }
}

/** The environment that makes a child's {@link startPostgresOfRun} use this server. */
export const handDown = (info: PostgresOfRun) => ({ [HANDED_DOWN]: JSON.stringify(info) });

async function localServer(): Promise<{ url: string; stop: () => void }> {
  sweepLeftClusters();
  const parent = mkdtempSync(join(tmpdir(), `${TEMPORARY_PREFIX}${process.pid}-`));
  // If we are root, the server's own user has to be able to enter its folder.
  chmodSync(parent, 0o711);
  const password = randomBytes(18).toString('base64url');
  const server = await startLocalPostgres({
    dataFolder: join(parent, 'postgres'),
    password,
    settings: { max_connections: CONNECTIONS_MAX },
  });
  writeClusterNote(parent, server.folder);
  // Tests open tens of thousands of connections, each of which would compute 4,096 iterations.
  await withClient(server.connectionString(), (client) =>
    client.query(
      `SET scram_iterations = 1; ALTER ROLE postgres PASSWORD ${escapeLiteral(password)}`,
    ),
  );
  let stopped = false;
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    server.stop({ remove: true });
    rmSync(parent, { recursive: true, force: true });
  };
  // The run may end without its teardown: Ctrl-C, a crash, process.exit.
  process.once('exit', stop);
  return { url: server.socketConnectionString(), stop };
}

async function onServer(
  url: string,
  migrate: MigrateTemplate,
  stopServer: () => void,
): Promise<RunningPostgres> {
  const template = `cardea_template_${randomBytes(6).toString('hex')}`;
  try {
    await withClient(url, (client) => client.query(`CREATE DATABASE ${template}`));
    await migrate(databaseUrl(url, template));
  } catch (error) {
    await dropDatabase(url, template).catch(() => undefined);
    stopServer();
    throw error;
  }
  return {
    info: { url, template },
    stop: async () => {
      await dropDatabase(url, template).catch(() => undefined);
      stopServer();
    },
  };
}

/** Creates a new copy of the template. Returns its URL. */
export async function copyTemplate(
  { url, template }: { readonly url: string; readonly template: string },
  name: string,
): Promise<string> {
  await withClient(url, (client) =>
    client.query(
      `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)}`,
    ),
  );
  return databaseUrl(url, name);
}

export async function dropDatabase(url: string, name: string): Promise<void> {
  await withClient(url, (client) =>
    client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`),
  );
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function databaseUrl(url: string, database: string): string {
  const named = new URL(url);
  named.pathname = `/${database}`;
  return named.href;
}
