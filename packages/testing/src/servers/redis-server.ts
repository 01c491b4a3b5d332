/**
 * Starts a `redis-server` on loopback that stores nothing on disk. Tests and the cluster on one machine start theirs
 * the same way.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-ports.ts';

const HOST = '127.0.0.1';
const READY_MS_MAX = 60_000;
const LOOK_EVERY_MS = 25;
/** How often the start is tried, because a free port may be taken before the server binds it. */
const TRIES_MAX = 5;
const STOP_MS_MAX = 20_000;
const OUTPUT_CHARACTERS_MAX = 4_000;

export type RedisOptions = {
  /** The port; a free one by default. */
  readonly port?: number;
  readonly password?: string;
  /** Lines of an ACL file with which the server starts. */
  readonly users?: readonly string[];
  /** Further arguments, e.g. `['--maxmemory', '256mb']`. */
  readonly args?: readonly string[];
};

export type RedisServer = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Any signal, e.g. SIGSTOP and SIGCONT. */
  signal(name: NodeJS.Signals): void;
  /** Ends the server gracefully. Resolves when it has ended. */
  stop(): Promise<void>;
  /** Sends SIGKILL. Resolves when it has ended. A new one on the same port starts empty. */
  kill(): Promise<void>;
  /** Resolves when the server has ended, for any reason. */
  readonly ended: Promise<void>;
};

/** There is no `redis-server` on the PATH, or it does not start. */
export class RedisNotStarted extends Error {
  override readonly name = 'RedisNotStarted';
}

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOn(options.port ?? (await freePort()), options);
    } catch (error) {
      const again = error instanceof PortTaken && options.port === undefined;
      if (!again || tries >= TRIES_MAX) throw error;
    }
  }
}

class PortTaken extends RedisNotStarted {}

/**
 * Runs the server beside a reader of our pipe. When we end for any reason, the pipe ends, and the server with it. Its
 * first output line is the server's process id.
 */
const WITH_US = `
exec 3<&0
redis-server "$@" 3<&- </dev/null &
server=$!
echo "$server"
(cat <&3; kill -9 "$server") >/dev/null 2>&1 &
wait "$server"
kill "$!" 2>/dev/null
folder=$PWD
cd / && rm -rf "$folder"`;

async function startOn(port: number, options: RedisOptions): Promise<RedisServer> {
  const { password, users = [], args = [] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'cardea-redis-'));
  const given = [...settings(port, folder, password), ...args];
  if (users.length > 0) {
    const file = join(folder, 'users.acl');
    writeFileSync(file, `${users.join('\n')}\n`, { mode: 0o600 });
    given.push('--aclfile', file);
  }
  const child = spawn('/bin/sh', ['-c', WITH_US, 'redis', ...given], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    stdio: 'pipe',
    // A Ctrl-C must reach only us, who stop the server when nobody needs it any more.
    detached: true,
  });
  const { ended, output, isOver } = watched(child, folder);
  await untilReady({ output, isOver }).catch((error: unknown) => {
    child.stdin.end();
    throw error;
  });
  const pid = Number(/^\d+/.exec(output())?.[0]);
  const signal = (name: NodeJS.Signals): void => {
    try {
      if (!isOver()) process.kill(pid, name);
    } catch {
      // The process has just ended.
    }
  };
  const endWith = async (name: NodeJS.Signals): Promise<void> => {
    const late = setTimeout(() => child.stdin.end(), STOP_MS_MAX);
    signal(name);
    // A process stopped by SIGSTOP handles no other signal.
    signal('SIGCONT');
    await ended;
    clearTimeout(late);
  };
  const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
  return {
    url: `redis://${credentials}${HOST}:${port}`,
    port,
    pid,
    signal,
    stop: () => endWith('SIGTERM'),
    kill: () => endWith('SIGKILL'),
    ended,
  };
}

const settings = (port: number, folder: string, password: string | undefined): string[] => [
  ...['--port', String(port)],
  ...['--bind', HOST],
  ...['--dir', folder],
  ...['--save', ''],
  ...['--appendonly', 'no'],
  ...['--daemonize', 'no'],
  ...(password === undefined ? [] : ['--requirepass', password]),
];

/** The folder is removed with the server. */
function watched(child: ChildProcess, folder: string) {
  let text = '';
  let over = false;
  const forget = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', forget);
  // The server's message at its start is enough.
  const collect = (chunk: Buffer): void => {
    text = (text + chunk.toString('utf8')).slice(0, OUTPUT_CHARACTERS_MAX);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      over = true;
      process.off('exit', forget);
      forget();
      resolve();
    };
    child.once('close', end);
    child.once('error', (error) => {
      text += error.message;
      end();
    });
  });
  return { ended, output: () => text, isOver: () => over };
}

async function untilReady(of: {
  readonly output: () => string;
  readonly isOver: () => boolean;
}): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  // Reads the server's own output, because the server that answers at the port may be another one.
  while (!/Ready to accept connections/.test(of.output())) {
    if (of.isOver()) {
      const text = of.output().trim();
      if (/address already in use/i.test(text)) throw new PortTaken('the port is taken');
      throw new RedisNotStarted(
        /not found/.test(text) ? 'there is no redis-server on the PATH' : text.slice(-500),
      );
    }
    if (performance.now() > deadline) throw new RedisNotStarted('redis-server does not start');
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Whether a Redis server answers there, even if it only asks for a password. */
export function answers(port: number, host: string = HOST): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const end = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.once('error', () => end(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (bytes) => end(/^(\+PONG|-NOAUTH)/.test(bytes.toString('latin1'))));
  });
}
