import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { type Binaries, SERVER_ENVIRONMENT, SHARED_FOLDER } from './binaries.ts';
import { LocalPostgresError } from './local-postgres-error.ts';
import type { OsUser } from './os-user.ts';

/** A folder with a whole cluster, and the OS user that owns it. */
export type ClusterFolder = { readonly path: string; readonly owner: OsUser | undefined };

/** A file in a folder that the server's user cannot reach. It names the cluster's folder elsewhere. */
const POINTER = 'kept-elsewhere';
const NAME = /^[0-9a-f]{12}$/;

/**
 * Returns the requested folder, or another folder if the server's user cannot reach the requested one. A note in the
 * requested folder then names it, so that the next start finds it. A user who deletes the requested folder starts with
 * an empty cluster.
 */
export function chooseFolder(asked: string, user: OsUser | undefined): ClusterFolder {
  const own = resolve(asked);
  if (user === undefined) {
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return { path: own, owner: undefined };
  }
  // The cluster was created by a normal user and is started by root. It runs as its owner.
  if (isCluster(own)) return { path: own, owner: ownerOf(own) ?? user };
  const pointer = join(own, POINTER);
  const named = existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : '';
  if (!NAME.test(named) && makeReachable(own, user)) return { path: own, owner: user };
  const name = NAME.test(named) ? named : randomBytes(6).toString('hex');
  const shared = join(SHARED_FOLDER, name);
  if (isCluster(shared)) return { path: shared, owner: user };
  mkdirSync(SHARED_FOLDER, { recursive: true });
  chmodSync(SHARED_FOLDER, 0o755);
  makeReachable(shared, user);
  writeFileSync(pointer, `${name}\n`, { mode: 0o600 });
  return { path: shared, owner: user };
}

/** Returns the location of this folder's cluster, if there is one. */
export function clusterOf(own: string): string {
  const pointer = join(own, POINTER);
  if (isCluster(own) || !existsSync(pointer)) return own;
  return join(SHARED_FOLDER, readFileSync(pointer, 'utf8').trim());
}

/** Runs initdb if there is no cluster yet, and refuses one of another major version. */
export function prepareCluster(folder: ClusterFolder, binaries: Binaries, password: string): void {
  if (!isCluster(folder.path)) initialise(folder, binaries, password);
  const major = readFileSync(join(folder.path, 'PG_VERSION'), 'utf8').trim();
  if (major !== binaries.major) {
    throw new LocalPostgresError(
      'other_version',
      `The data folder was written by PostgreSQL ${major}, and this release brings ${binaries.major}. Back it up with the release that wrote it, and restore it with this one.`,
    );
  }
}

const isCluster = (path: string): boolean => existsSync(join(path, 'PG_VERSION'));

function ownerOf(path: string): OsUser | undefined {
  const { uid, gid } = statSync(path);
  return uid === 0 ? undefined : { uid, gid };
}

function makeReachable(path: string, user: OsUser): boolean {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chownSync(path, user.uid, user.gid);
  const probe = spawnSync('/bin/sh', ['-c', 'test -x "$1" && test -w "$1"', 'sh', path], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  });
  return probe.status === 0;
}

/**
 * Builds the cluster in a temporary folder and renames it, so that a process killed in between leaves no incomplete
 * one.
 */
function initialise({ path, owner }: ClusterFolder, { initdb }: Binaries, password: string): void {
  const beside = `${path}.new`;
  const passwordFile = `${path}.password`;
  rmSync(beside, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(beside, { mode: 0o700 });
  if (owner !== undefined) chownSync(beside, owner.uid, owner.gid);
  try {
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
    if (owner !== undefined) chownSync(passwordFile, owner.uid, owner.gid);
    const made = spawnSync(
      initdb,
      [
        `--pgdata=${beside}`,
        '--username=postgres',
        '--auth=scram-sha-256',
        `--pwfile=${passwordFile}`,
        '--encoding=UTF8',
        '--locale=C',
        '--data-checksums',
      ],
      { ...owner, cwd: '/', env: SERVER_ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    if (made.status !== 0) {
      const why = made.error?.message ?? made.stderr.toString().trim().split('\n').slice(-5);
      throw new LocalPostgresError('not_started', `initdb failed: ${why}`);
    }
    renameSync(beside, path);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(beside, { recursive: true, force: true });
  }
}
