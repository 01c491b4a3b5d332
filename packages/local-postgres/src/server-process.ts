import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { clusterOf } from './cluster-folder.ts';

/** Reads from `postmaster.pid` of a cluster's folder which server runs, or ran, on it. */
export type ServerProcess = { readonly pid: number; readonly port: number };

const PORT_LINE = 3;
const FAST_STOP_WAIT_MS = 5000;
const IMMEDIATE_STOP_WAIT_MS = 10_000;
const POLL_MS = 20;

/**
 * The live server of this folder. A pid file whose process is gone, or has become something else
 * since, is no server: a process is only ever signalled when its command line names our folder.
 */
export function serverOf(folder: string): ServerProcess | undefined {
  const recorded = recordedServer(folder);
  if (recorded === undefined || !lives(recorded.pid)) return undefined;
  return commandLine(recorded.pid).includes(folder) ? recorded : undefined;
}

/** Stops the server and returns when it is gone. Synchronous, so that it also works in `exit` handlers. */
export function stopServer(pid: number): void {
  if (!lives(pid)) return;
  signal(pid, 'SIGINT');
  if (waitUntilGone(pid, FAST_STOP_WAIT_MS)) return;
  signal(pid, 'SIGQUIT');
  if (waitUntilGone(pid, IMMEDIATE_STOP_WAIT_MS)) return;
  signal(pid, 'SIGKILL');
}

/** Stops whatever server runs on this folder; for clean-ups by those who did not start it. */
export function stopServerOf(folder: string): void {
  const running = serverOf(folder);
  if (running !== undefined) stopServer(running.pid);
}

/** The port of the server that runs on this folder, or on the one that it points to. */
export function runningPort(asked: string): number | undefined {
  return serverOf(clusterOf(resolve(asked)))?.port;
}

function recordedServer(folder: string): ServerProcess | undefined {
  const lines = (pidFile(folder) ?? '').split('\n');
  const pid = Number(lines[0]);
  return pid > 1 ? { pid, port: Number(lines[PORT_LINE]) } : undefined;
}

/** Undefined where there is none: a server that ends takes it away at any moment. */
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

/** A child that ended while we wait synchronously is not reaped until the event loop turns. */
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
    // It went on its own.
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
