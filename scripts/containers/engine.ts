/** A container engine: the one that is running or, as root on Debian, one that is started here from its packages. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { docker, ended, output } from './docker.ts';

export type Engine = {
  readonly version: string;
  /** Ends the engine when this run started it. */
  stop(): Promise<void>;
};

/** Everything that is made once: look-alikes of base images, the data of our own engine, Compose. */
export const CACHE = resolve('.cache/containers');
/** The socket of our own engine. Its path is short, because socket paths have a length limit. */
const SOCKET = 'unix:///run/cardea-engine.sock';
const RUN_FOLDER = '/run/cardea-engine';
const PACKAGES = ['docker.io', 'iptables', 'mmdebstrap'];
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 60_000;
const POLL_MS = 200;

export const HOW_TO_GET_ONE =
  'no container engine answers: start Docker, name one by DOCKER_HOST, or, as root on Debian, say --start-engine';

/** The version of the running engine. Undefined if there is none. */
export async function engineVersion(): Promise<string | undefined> {
  const asked = await ended('docker', ['version', '--format', '{{.Server.Version}}']);
  return asked.code === 0 ? asked.stdout.trim() : undefined;
}

/** Finds or starts an engine. Afterwards DOCKER_HOST of this process names it. */
export async function findEngine(mayStart: boolean): Promise<Engine> {
  const found = await engineVersion();
  if (found !== undefined) return { version: found, stop: async () => {} };
  if (!mayStart) throw new Error(HOW_TO_GET_ONE);
  if (process.getuid?.() !== 0) throw new Error('only root can start an engine');
  await install();
  return startEngine();
}

async function install(): Promise<void> {
  if ((await ended('dpkg', ['-s', ...PACKAGES])).code === 0) return;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await output('apt-get', ['-qq', 'update'], { env });
  await output('apt-get', ['-qq', 'install', '-y', '--no-install-recommends', ...PACKAGES], {
    env,
  });
}

async function startEngine(): Promise<Engine> {
  process.env['DOCKER_HOST'] = SOCKET;
  // An earlier run that was killed has left it.
  const running = await engineVersion();
  const pidFile = join(RUN_FOLDER, 'pid');
  if (running === undefined) {
    mkdirSync(CACHE, { recursive: true });
    mkdirSync(RUN_FOLDER, { recursive: true });
    const log = openSync(join(CACHE, 'engine.log'), 'a');
    const folders = ['--data-root', join(CACHE, 'engine'), '--exec-root', RUN_FOLDER];
    spawn('dockerd', ['--host', SOCKET, '--pidfile', pidFile, ...folders], {
      stdio: ['ignore', log, log],
      detached: true,
    }).unref();
  }
  const deadline = Date.now() + START_MS_MAX;
  while ((await engineVersion()) === undefined) {
    if (Date.now() > deadline) throw new Error(`dockerd did not start: ${CACHE}/engine.log`);
    await pause(POLL_MS);
  }
  return {
    version: await docker('version', '--format', '{{.Server.Version}}'),
    stop: () => stopEngine(pidFile),
  };
}

async function stopEngine(pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return;
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM');
  const deadline = Date.now() + STOP_MS_MAX;
  // dockerd removes the file last.
  while (existsSync(pidFile) && Date.now() < deadline) await pause(POLL_MS);
}
