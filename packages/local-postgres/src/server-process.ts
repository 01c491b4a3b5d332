import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { clusterOf } from './cluster-folder.ts';

/** The server that runs, or ran, on a cluster's folder, according to its `postmaster.pid`. */
export type ServerProcess = {
  readonly pid: number;
  readonly port: number;
  /** The folder of its Unix socket, if it has one. */
  readonly socketFolder: string | undefined;
};

const PORT_LINE = 3;
const SOCKET_FOLDER_LINE = 4;
const FAST_STOP_WAIT_MS = 5000;
const IMMEDIATE_STOP_WAIT_MS = 10_000;
const POLL_MS = 20;

/**
 * The live server of this folder. If the process of a pid file is gone or is another program by now, there is no
 * server. A process is only ever signalled when its command line names our folder.
 */
export function serverOf(folder: string): ServerProcess | undefined {
  const recorded = recordedServer(folder);
  if (recorded === undefined || !lives(recorded.pid)) return undefined;
  return commandLine(recorded.pid).includes(folder) ? recorded : undefined;
}

/** Stops the server and returns when it has ended. It is synchronous, so that it also works in `exit` handlers. */
export function stopServer(pid: number): void {
  if (!lives(pid)) return;
  signal(pid, 'SIGINT');
  if (waitUntilGone(pid, FAST_STOP_WAIT_MS)) return;
  signal(pid, 'SIGQUIT');
  if (waitUntilGone(pid, IMMEDIATE_STOP_WAIT_MS)) return;
  signal(pid, 'SIGKILL');
}

/** Stops any server that runs on this folder, for clean-ups by code that did not start it. */
export function stopServerOf(folder: string): void {
  const running = serverOf(folder);
  if (running !== undefined) stopServer(running.pid);
}

/** The port of the server that runs on this folder, or on the folder to which it points. */
export function runningPort(asked: string): number | undefined {
  return serverOf(clusterOf(resolve(asked)))?.port;
}

function recordedServer(folder: string): ServerProcess | undefined {
  const lines = (pidFile(folder) ?? '').split('\n');
  const pid = Number(lines[0]);
  const socketFolder = lines[SOCKET_FOLDER_LINE] || undefined;
  return pid > 1 ? { pid, port: Number(lines[PORT_LINE]), socketFolder } : undefined;
}

/** Undefined if there is none. A server that ends may delete it at any time. */
function pidFile(folder: string): string | undefined {
  const file = join(folder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function commandLine(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** A child that ended while we wait synchronously is not reaped until the next turn of the event loop. */
function isZombie(pid: number): boolean {
  try {
    if (existsSync('/proc/self/stat')) {
      return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    }
    const state = execFileSync('ps', ['-p', String(pid), '-o', 'stat='], { encoding: 'utf8' });
    return state.trim().startsWith('Z');
  } catch {
    return true;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process ended by itself.
  }
}

function waitUntilGone(pid: number, waitMs: number): boolean {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const deadline = Date.now() + waitMs;
  while (lives(pid)) {
    if (Date.now() > deadline) return false;
    Atomics.wait(pause, 0, 0, POLL_MS);
  }
  return true;
}
