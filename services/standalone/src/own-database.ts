/** The PostgreSQL of a standalone instance. It is started first, restarted if it dies, and stopped last. */
import { join } from 'node:path';
import { connectionString, type LocalPostgres, startLocalPostgres } from '@cardea/local-postgres';
import { type Logger, type Secret, secret } from '@cardea/runtime';
import type { DataFolder } from './data-folder.ts';

const DATABASE = 'cardea';
const DATABASE_EXISTS = '42P04';
const LOOK_EVERY_MS = 1000;

export type OwnDatabase = {
  readonly url: Secret;
  /** The folder of the database's files. */
  readonly folder: string;
  /** Synchronous, because it runs while the process exits. */
  stop(): void;
};

export async function ownDatabase(folder: DataFolder, log: Logger): Promise<OwnDatabase> {
  const start = (): Promise<LocalPostgres> =>
    startLocalPostgres({
      dataFolder: join(folder.path, 'postgres'),
      password: folder.generated.POSTGRES_PASSWORD,
      temporary: folder.temporary,
    });
  let postgres = await start();
  let starting = false;

  /** The port is kept, so the URL stays valid for the new server. */
  const look = async (): Promise<void> => {
    if (starting || isAlive(postgres.pid)) return;
    starting = true;
    log.error({}, 'PostgreSQL has ended; it is started again');
    try {
      postgres = await start();
      log.warn({}, 'PostgreSQL is back');
    } catch (error) {
      log.error({ err: error }, 'PostgreSQL does not start');
    } finally {
      starting = false;
    }
  };
  const watch = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  const stop = (): void => {
    clearInterval(watch);
    postgres.stop({ remove: folder.temporary });
  };
  try {
    await postgres.createDatabase(DATABASE).catch((error: { code?: string }) => {
      if (error.code !== DATABASE_EXISTS) throw error;
    });
  } catch (error) {
    stop();
    throw error;
  }
  const { folder: place } = postgres;
  return { url: secret(postgres.socketConnectionString(DATABASE)), folder: place, stop };
}

/** The URL of a server that is already running. */
export const ownDatabaseUrl = (port: number, password: string): string =>
  connectionString({ port, password, database: DATABASE });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
