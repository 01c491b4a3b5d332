/** Starts a gateway on this machine: Debian's nginx, with all its files in a separate folder. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Documents, writeDocuments } from '@cardea/documents';
import { documentation, PortTaken } from '@cardea/http';
import { hostInUrl, reachableHost } from '@cardea/runtime';
import { freePort } from '@cardea/testing';
import { documentsOf, product } from './files.ts';
import { type GatewayOptions, renderGateway } from './render.ts';

export type GatewayToStart = Omit<GatewayOptions, 'port' | 'folder' | 'staticFolder'> & {
  /** The port; a free one by default. */
  readonly port?: number;
  /** The parent of its folder; the system's temporary folder by default. */
  readonly parent?: string;
};

export type Gateway = {
  readonly url: string;
  readonly port: number;
  /** The id of the master process. */
  readonly pid: number;
  /** Configuration and logs; deleted by {@link stop}. */
  readonly folder: string;
  /** Resolves when nginx has ended. `graceful` lets pending requests finish. */
  stop(graceful?: boolean): Promise<void>;
  readonly ended: Promise<void>;
};

/** nginx is not installed. */
export class NginxMissing extends Error {
  override readonly name = 'NginxMissing';
  constructor() {
    super('nginx is missing: apt-get install nginx-light, or set NGINX_BINARY to its path');
  }
}

/** On Debian it is in a folder that only root's PATH includes. */
const PLACES = ['nginx', '/usr/sbin/nginx', '/usr/local/sbin/nginx'];
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 35_000;
const POLL_MS = 20;
const PORTS_TRIED_MAX = 3;
const WATCH =
  'while kill -0 "$2" 2>/dev/null; do kill -0 "$1" 2>/dev/null || kill -TERM "$2"; sleep 1; done; rm -rf "$3"';
const OUTPUT_CHARACTERS_MAX = 20_000;

/** The command that starts nginx here. Undefined if nginx is not installed. */
export function nginxCommand(): string | undefined {
  const named = process.env['NGINX_BINARY'];
  return [...(named ? [named] : PLACES)].find((command) => {
    try {
      execFileSync(command, ['-v'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

/** Throws {@link NginxMissing}, `PortTaken`, or an error with nginx's output. */
export async function startGateway(options: GatewayToStart): Promise<Gateway> {
  const command = nginxCommand();
  if (command === undefined) throw new NginxMissing();
  for (let tried = 1; ; tried += 1) {
    const port = options.port ?? (await freePort());
    try {
      return await startOn(port, command, options);
    } catch (error) {
      // A port that was free a moment ago may be in use by now.
      const again = error instanceof PortTaken && options.port === undefined;
      if (!again || tried === PORTS_TRIED_MAX) throw error;
    }
  }
}

async function startOn(port: number, command: string, options: GatewayToStart): Promise<Gateway> {
  const folder = gatewayFolder(options.parent ?? tmpdir(), await documents());
  const config = join(folder, 'nginx.conf');
  const staticFolder = join(folder, 'static');
  writeFileSync(config, renderGateway({ ...options, port, folder, staticFolder }));
  // The child has a separate process group, because a Ctrl-C in a terminal would end it before the services have
  // drained.
  const child = spawn(command, ['-p', folder, '-c', config, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    // nginx does not need our environment, which contains secrets.
    env: { PATH: process.env['PATH'] },
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-OUTPUT_CHARACTERS_MAX);
  });
  const watch = endWithUs(child, folder);
  const end = () => child.kill('SIGTERM');
  const kill = () => killGroup(child);
  process.once('exit', end);
  const ended = new Promise<void>((resolve) => {
    const done = () => {
      process.off('exit', end);
      watch?.kill();
      rmSync(folder, { recursive: true, force: true });
      resolve();
    };
    child.once('close', done);
    child.once('error', done);
  });
  const host = options.hosts?.[0] ?? '127.0.0.1';
  if (!(await hasStarted(folder, child))) {
    kill();
    await ended;
    if (said.includes('Address already in use')) throw new PortTaken(port);
    throw new Error(`nginx did not start on port ${port}:\n${said}`);
  }
  return {
    url: `http://${hostInUrl(reachableHost(host))}:${port}`,
    port,
    pid: child.pid ?? 0,
    folder,
    ended,
    async stop(graceful = false) {
      child.kill(graceful ? 'SIGQUIT' : 'SIGTERM');
      const late = setTimeout(kill, STOP_DEADLINE_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Workers survive a master that is killed, so the whole group is killed. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}

/** Stops nginx and cleans up when the process that started it was killed, which nginx itself does not notice. */
function endWithUs({ pid }: ChildProcess, folder: string): ChildProcess | undefined {
  if (pid === undefined) return undefined;
  const args = ['-c', WATCH, 'sh', String(process.pid), String(pid), folder];
  const watch = spawn('sh', args, { stdio: 'ignore', detached: true });
  watch.on('error', () => {});
  watch.unref();
  return watch;
}

/** Generated once, because the code does not change while we run. */
function documents(): Promise<Documents> {
  made ??= product().then(documentsOf);
  return made;
}
let made: Promise<Documents> | undefined;

/**
 * The folder also contains the documents, because nginx that is started as root runs its workers as a user that may not
 * read our checkout.
 */
function gatewayFolder(parent: string, served: Documents): string {
  const folder = mkdtempSync(join(parent, 'cardea-gateway-'));
  chmodSync(folder, 0o711);
  const staticFolder = join(folder, 'static');
  mkdirSync(staticFolder, { mode: 0o755 });
  writeDocuments(staticFolder, served);
  copyFileSync(documentation.bundlePath(), join(staticFolder, 'reference.js'));
  return folder;
}

/** nginx writes its pid once it listens. A response on the port could be another process's. */
async function hasStarted(folder: string, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    if (child.pid === undefined) return false;
    if (existsSync(join(folder, 'nginx.pid'))) return true;
    await pause(POLL_MS);
  }
  return false;
}
