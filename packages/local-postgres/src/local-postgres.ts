/**
 * One PostgreSQL server on one data folder. It is created at the first start, found again at later ones, and reachable
 * on loopback and through a Unix socket in its folder only. It survives a killed parent, and the next start adopts or
 * stops it.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, escapeIdentifier } from 'pg';
import { type Binaries, findBinaries, SERVER_ENVIRONMENT } from './binaries.ts';
import { type ClusterFolder, chooseFolder, prepareCluster } from './cluster-folder.ts';
import { LocalPostgresError } from './local-postgres-error.ts';
import { osUserForServer } from './os-user.ts';
import { type ServerProcess, serverOf, stopServer } from './server-process.ts';

export type LocalPostgresOptions = {
  /** The folder of the cluster. For root it may be elsewhere: see {@link LocalPostgres.folder}. */
  readonly dataFolder: string;
  /** The password of the superuser `postgres`, which stays the same at every start. */
  readonly password: string;
  /** Whether the cluster is deleted too when the process ends before the server is ready. */
  readonly temporary?: boolean;
  /** Receives a sentence about each step. */
  readonly log?: (message: string) => void;
  /** Further server settings, e.g. `{ log_statement: 'none' }`. */
  readonly settings?: { readonly [name: string]: string };
};

export type LocalPostgres = {
  readonly port: number;
  readonly pid: number;
  /** The cluster's real folder. */
  readonly folder: string;
  /** Connects as the superuser, to the database `postgres` unless another is named. */
  connectionString(database?: string): string;
  /**
   * Connects through the Unix socket, where a statement costs a third less processor time than by TCP. Connects by TCP if
   * the server has no socket.
   */
  socketConnectionString(database?: string): string;
  createDatabase(name: string, template?: string): Promise<void>;
  /** Returns when the server has ended. It is synchronous, for `process.on('exit')`. */
  stop(options?: { readonly remove?: boolean }): void;
};

const HOST = '127.0.0.1';
/** The socket's path may have 103 bytes on macOS, and 107 on Linux. */
const SOCKET_PATH_BYTES_MAX = 103;
const CONNECTIONS_MAX = 200;
const READY_WAIT_MS = 120_000;
const CONNECT_WAIT_MS = 5000;
const POLL_MS = 50;
const LAUNCH_TRIES_MAX = 20;
const LAUNCH_PAUSE_MS = 250;
const LOG_LINES_SHOWN = 5;

/** Starts the server of a folder, or adopts the one that a killed process left running. */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const user = osUserForServer();
  const folder = chooseFolder(options.dataFolder, user);
  const binaries = findBinaries(folder.owner);
  const launching: Launching = { pid: undefined };
  // Until the caller has a handle, no other code can stop the server, which would survive a Ctrl-C.
  const abandon = () => {
    if (launching.pid !== undefined) stopServer(launching.pid);
    if (options.temporary === true) rmSync(folder.path, { recursive: true, force: true });
  };
  process.once('exit', abandon);
  try {
    prepareCluster(folder, binaries, options.password);
    const adopted = await adopt(folder.path, options);
    const server = adopted ?? (await launchPatiently(folder, binaries, options, launching));
    return handle(server, folder.path, options.password);
  } finally {
    process.off('exit', abandon);
  }
}

type Launching = { pid: number | undefined };

/** After a kill -9 of the server, its workers keep the shared memory until they notice, so the launch is repeated. */
async function launchPatiently(
  folder: ClusterFolder,
  binaries: Binaries,
  options: LocalPostgresOptions,
  launching: Launching,
): Promise<ServerProcess> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await launch(folder, binaries, options, launching);
    } catch (error) {
      const held = error instanceof Error && error.message.includes('shared memory block');
      if (!held || tries === LAUNCH_TRIES_MAX) throw error;
      await pause(LAUNCH_PAUSE_MS);
    }
  }
}

async function adopt(
  folder: string,
  { password, log }: LocalPostgresOptions,
): Promise<ServerProcess | undefined> {
  const running = serverOf(folder);
  if (running === undefined) {
    // The file names no live server of this folder, and the process id may belong to another program by now.
    rmSync(join(folder, 'postmaster.pid'), { force: true });
    return undefined;
  }
  if ((await answers(running.port, password)) === 'yes') {
    log?.('PostgreSQL was still running; it is used again.');
    return running;
  }
  log?.('PostgreSQL was still running and does not answer; it is stopped first.');
  stopServer(running.pid);
  return undefined;
}

async function launch(
  { path, owner }: ClusterFolder,
  { postgres }: Binaries,
  { password, settings }: LocalPostgresOptions,
  launching: Launching,
): Promise<ServerProcess> {
  const port = await keptPort(path);
  const logFile = join(path, 'cardea-server.log');
  const output = openSync(logFile, 'w', 0o600);
  const child = spawn(postgres, ['-D', path, ...flags(port, path, settings)], {
    ...owner,
    cwd: '/',
    env: SERVER_ENVIRONMENT,
    // A separate process group: Ctrl-C must reach us first, so that we drain before the database stops.
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.unref();
  launching.pid = child.pid;
  let exited = child.pid === undefined;
  child.once('error', () => {
    exited = true;
  });
  child.once('exit', () => {
    exited = true;
  });
  const pid = child.pid ?? 0;
  try {
    await untilReady(port, password, () => exited);
  } catch (error) {
    if (!exited) stopServer(pid);
    throw explain(error, logFile);
  }
  return { pid, port, socketFolder: socketFolderOf(path) };
}

/** The folder can be entered by the server's user only. */
const socketFolderOf = (folder: string): string | undefined =>
  Buffer.byteLength(join(folder, '.s.PGSQL.65535')) > SOCKET_PATH_BYTES_MAX ? undefined : folder;

/** The log contains neither statements nor values, because both may contain personal data. */
function flags(
  port: number,
  folder: string,
  settings: LocalPostgresOptions['settings'] = {},
): string[] {
  const all = {
    port: String(port),
    listen_addresses: HOST,
    unix_socket_directories: socketFolderOf(folder) ?? '',
    max_connections: String(CONNECTIONS_MAX),
    timezone: 'UTC',
    // By default the background writer wakes five times a second, even when nothing is written.
    bgwriter_delay: '1s',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Reuses the port of the last start, so that stored addresses stay valid. Takes another one if it is in use. */
async function keptPort(folder: string): Promise<number> {
  const file = join(folder, 'cardea-port');
  const kept = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  const port = (await bindable(kept)) ?? (await bindable(0)) ?? 0;
  if (port !== kept) writeFileSync(file, `${port}\n`);
  return port;
}

const bindable = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen({ port, host: HOST, exclusive: true }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });

async function untilReady(port: number, password: string, exited: () => boolean): Promise<void> {
  const deadline = Date.now() + READY_WAIT_MS;
  while (Date.now() < deadline) {
    if (exited()) throw new LocalPostgresError('not_started', 'PostgreSQL ended while it started.');
    const answer = await answers(port, password);
    if (answer === 'yes') return;
    if (answer === 'wrong_password') {
      throw new LocalPostgresError(
        'wrong_password',
        'The cluster in the data folder does not take the password.',
      );
    }
    await pause(POLL_MS);
  }
  throw new LocalPostgresError('not_started', 'PostgreSQL did not answer in time.');
}

async function answers(
  port: number,
  password: string,
): Promise<'yes' | 'not_yet' | 'wrong_password'> {
  const client = new Client({
    connectionString: connectionString({ port, password }),
    connectionTimeoutMillis: CONNECT_WAIT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return 'yes';
  } catch (error) {
    return (error as { code?: string }).code === '28P01' ? 'wrong_password' : 'not_yet';
  } finally {
    await client.end().catch(() => undefined);
  }
}

function explain(error: unknown, logFile: string): unknown {
  if (!(error instanceof LocalPostgresError) || error.code !== 'not_started') return error;
  const lines = readFileSync(logFile, 'utf8').trim().split('\n').slice(-LOG_LINES_SHOWN);
  return new LocalPostgresError('not_started', `${error.message}\n${lines.join('\n')}`);
}

function handle(server: ServerProcess, folder: string, password: string): LocalPostgres {
  const { pid, port, socketFolder } = server;
  return {
    pid,
    port,
    folder,
    connectionString: (database) => connectionString({ port, password, database }),
    socketConnectionString: (database) =>
      connectionString({ host: socketFolder, port, password, database }),
    createDatabase: async (name, template) => {
      const client = new Client({ connectionString: connectionString({ port, password }) });
      await client.connect();
      try {
        const from = template === undefined ? '' : ` TEMPLATE ${escapeIdentifier(template)}`;
        await client.query(`CREATE DATABASE ${escapeIdentifier(name)}${from}`);
      } finally {
        await client.end();
      }
    },
    stop: ({ remove = false } = {}) => {
      stopServer(pid);
      if (remove) rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Address = {
  readonly host?: string | undefined;
  readonly port: number;
  readonly password: string;
  readonly database?: string | undefined;
};

/** Clients of PostgreSQL take a host that begins with a slash, encoded here, for the folder of a socket. */
export function connectionString({
  host = HOST,
  port,
  password,
  database = 'postgres',
}: Address): string {
  const [words, place, name] = [password, host, database].map(encodeURIComponent);
  return `postgres://postgres:${words}@${place}:${port}/${name}`;
}
