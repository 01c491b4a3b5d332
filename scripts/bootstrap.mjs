/**
 * The entry point: `node scripts/bootstrap.mjs <word>` runs on any Node from 18 on, with nothing installed.
 * It installs what is missing, runs the script with the pinned Node, and ends when its child or its parent
 * does.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PNPM = 'pnpm@12.21.0';
const WORDS = {
  /** Only installs. */
  install: undefined,
  start: ['services/standalone/src/main.ts'],
  test: ['scripts/test.ts'],
  'test:long': ['scripts/test.ts', '--long'],
  'test:containers': ['scripts/containers.ts'],
  check: ['scripts/test.ts', '--check'],
  tour: ['scripts/tour.ts'],
  bench: ['scripts/bench.ts'],
  cardea: ['services/standalone/src/cardea.ts'],
  events: ['scripts/events-docs.ts'],
  documents: ['services/standalone/src/documents.ts'],
  cluster: ['scripts/cluster.ts'],
};

const LOCK_WAIT_MS = 600_000;
const LOCK_POLL_MS = 200;
/**
 * The age at which a lock without a holder's name is removed. The process that made it was interrupted before it wrote
 * the name.
 */
const NAMELESS_LOCK_MS = 5000;
const PARENT_POLL_MS = 500;
const LINES_SHOWN = 20;
const USAGE_EXIT = 2;
const SIGNAL_EXIT_BASE = 128;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, 'node_modules', '.bin');
const stampFile = join(root, 'node_modules', '.cardea-install');
const lockFolder = join(root, '.cache', 'install.lock');

const [word = '', ...rest] = process.argv.slice(2);
if (!Object.hasOwn(WORDS, word)) {
  const scripts = Object.keys(WORDS).filter((each) => WORDS[each] !== undefined);
  console.error(`Say what to do: npm run ${scripts.join(' | npm run ')}`);
  process.exit(USAGE_EXIT);
}
process.chdir(root);
await installUnlessDone();
process.exit(WORDS[word] === undefined ? 0 : await runPinned(WORDS[word]));

async function installUnlessDone() {
  if (isInstalled()) return;
  await lock();
  try {
    if (isInstalled()) return;
    const stamp = stampOf();
    console.error('Installing packages (once) …');
    const lines = [];
    const failed = await run('npx', ['--yes', PNPM, 'install', '--frozen-lockfile'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
      env: { ...process.env, CI: 'true' },
      onOutput: (text) => {
        lines.push(...text.split('\n').filter((line) => line.trim() !== ''));
        lines.splice(0, lines.length - LINES_SHOWN);
      },
    });
    if (failed !== 0) {
      console.error(`${lines.join('\n')}\nThe installation failed (${failed}).`);
      unlock(); // `finally` does not run after an exit.
      process.exit(failed);
    }
    writeFileSync(stampFile, stamp);
  } finally {
    unlock();
  }
}

function isInstalled() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stampOf();
}

/** Changes when any input of an installation does. */
function stampOf() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const manifests = ['packages', 'services', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .sort()
      .map((name) => join(folder, name, 'package.json')),
  );
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...manifests]) {
    if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** Two concurrent installations would damage the folder: only the process that creates the lock folder installs. */
async function lock() {
  mkdirSync(dirname(lockFolder), { recursive: true });
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      mkdirSync(lockFolder);
      writeFileSync(join(lockFolder, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isLeftBehind()) unlock();
    if (Date.now() > deadline) {
      console.error(`Another installation does not end; remove ${lockFolder} if there is none.`);
      process.exit(1);
    }
    await pause(LOCK_POLL_MS);
  }
}

function isLeftBehind() {
  try {
    process.kill(Number(readFileSync(join(lockFolder, 'pid'), 'utf8')), 0);
    return false;
  } catch (error) {
    if (error.code === 'ENOENT') return ageMs() > NAMELESS_LOCK_MS;
    return error.code === 'ESRCH';
  }
}

function ageMs() {
  try {
    return Date.now() - statSync(lockFolder).mtimeMs;
  } catch {
    return 0;
  }
}

function unlock() {
  rmSync(lockFolder, { recursive: true, force: true });
}

function runPinned([script, ...args]) {
  const cores = os.availableParallelism?.() ?? os.cpus().length;
  return run(join(bin, 'node'), [script, ...args, ...rest], {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
      // Password hashes run in this pool; with the default of 4, file access would queue after them.
      UV_THREADPOOL_SIZE: process.env.UV_THREADPOOL_SIZE ?? String(cores + 4),
    },
  });
}

/** Runs a child to its end, forwards our signals, and ends it when our own parent has ended. */
function run(command, args, { onOutput, ...options }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, options);
    child.stdout?.on('data', (chunk) => onOutput(String(chunk)));
    child.stderr?.on('data', (chunk) => onOutput(String(chunk)));
    const forward = (signal) => child.kill(signal);
    // In a terminal Ctrl-C reaches the whole process group; a second signal would mean a stop without
    // waiting.
    const interrupt = () => process.stdin.isTTY || child.kill('SIGINT');
    process.on('SIGTERM', forward).on('SIGHUP', forward).on('SIGINT', interrupt);
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid !== parent) child.kill('SIGTERM');
    }, PARENT_POLL_MS);
    const done = (result) => {
      clearInterval(watch);
      process.off('SIGTERM', forward).off('SIGHUP', forward).off('SIGINT', interrupt);
      resolve(result);
    };
    child.once('error', (error) => {
      console.error(`${command} could not be run: ${error.message}`);
      done(1);
    });
    child.once('close', (exitCode, signal) =>
      done(exitCode ?? SIGNAL_EXIT_BASE + (os.constants.signals[signal] ?? 0)),
    );
  });
}
