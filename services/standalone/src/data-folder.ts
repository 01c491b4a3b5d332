/** The data of an instance on one machine: its secrets, its database, its mail, and a lock. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;
const ADMIN_EMAIL = 'admin@cardea.local';

/**
 * Values that are generated at the first start and read at later ones. Values of the environment take precedence and
 * are not written.
 */
export type Generated = {
  readonly JWT_SECRET: string;
  readonly ENCRYPTION_KEY: string;
  readonly POSTGRES_PASSWORD: string;
  readonly ADMIN_EMAIL: string;
  readonly ADMIN_PASSWORD: string;
};

export type DataFolder = {
  readonly path: string;
  readonly generated: Generated;
  readonly temporary: boolean;
  /** False until a start has shown the admin's password. */
  readonly greeted: boolean;
  markGreeted(): void;
  /** Unlocks the folder for the next start; removes a temporary folder. */
  release(): void;
};

/** Another process uses the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** The folder cannot be created or written to. */
export class FolderNotUsable extends Error {
  override readonly name = 'FolderNotUsable';
}

const REASONS: { readonly [code: string]: string } = {
  EACCES: 'this user has no permission to write there',
  EPERM: 'this user has no permission to write there',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its file system is full',
  ENOTDIR: 'part of its path is a file',
  EEXIST: 'it is a file',
};

export function openDataFolder(where: { readonly path: string } | 'temporary'): DataFolder {
  const path = where === 'temporary' ? tmpdir() : resolve(where.path);
  try {
    return opened(where);
  } catch (error) {
    const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new FolderNotUsable(`The data folder ${path} cannot be used: ${reason}.`, {
      cause: error,
    });
  }
}

function opened(where: { readonly path: string } | 'temporary'): DataFolder {
  const path = where === 'temporary' ? mkdtempSync(join(tmpdir(), 'cardea-')) : resolve(where.path);
  mkdirSync(path, { recursive: true, mode: OWNER_ONLY_FOLDER });
  chmodSync(path, OWNER_ONLY_FOLDER);
  const lock = takeLock(path);
  const greeting = join(path, 'greeted');
  return {
    path,
    generated: secretsOf(path),
    greeted: existsSync(greeting),
    markGreeted: () => writeFileSync(greeting, '', { mode: OWNER_ONLY_FILE }),
    temporary: where === 'temporary',
    release() {
      if (where === 'temporary') rmSync(path, { recursive: true, force: true });
      else rmSync(lock, { force: true });
    },
  };
}

/** Fails while the owner of the lock is alive. A lock that a killed process left is taken over. */
function takeLock(path: string): string {
  const lock = join(path, 'run.lock');
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx', mode: OWNER_ONLY_FILE });
    return lock;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = Number(readFileSync(lock, 'utf8'));
  if (isAlive(holder)) {
    throw new FolderInUse(`${path} is in use by process ${holder}`);
  }
  rmSync(lock, { force: true });
  return takeLock(path);
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return isOurs(pid);
}

/** After a reboot another process may have the same pid. /proc tells, if it exists. */
function isOurs(pid: number): boolean {
  try {
    return /standalone|cluster/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return true;
  }
}

function secretsOf(path: string): Generated {
  const file = join(path, 'secrets.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Generated;
  const generated: Generated = {
    JWT_SECRET: randomBytes(48).toString('base64url'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    POSTGRES_PASSWORD: randomBytes(24).toString('base64url'),
    ADMIN_EMAIL,
    ADMIN_PASSWORD: randomBytes(12).toString('base64url'),
  };
  // Renamed after writing, so that a crash leaves no incomplete file.
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(generated, null, 2)}\n`, { mode: OWNER_ONLY_FILE });
  renameSync(draft, file);
  return generated;
}
