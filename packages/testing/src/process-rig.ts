/**
 * Real processes for fault tests: started, waited for, killed. Whatever is still alive when the file
 * is done goes with it, and what the processes of a failed test printed stays in `.cache/failures/`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { untilTrue } from './until-true.ts';

export type ProcessToStart = {
  /** Names the log file. */
  readonly name: string;
  /** A `.ts` or `.js` file that this Node runs; `command` for anything else. */
  readonly script?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Beside PATH and HOME; nothing else of ours is handed on. */
  readonly env?: { readonly [name: string]: string };
  /** The process is up once its output matches. */
  readonly ready?: RegExp;
  readonly deadlineMs?: number;
};

export type RigProcess = {
  readonly name: string;
  readonly pid: number;
  /** What `ready` matched; its groups hold addresses and the like. */
  readonly ready: RegExpExecArray | null;
  output(): string;
  /** Waits until the output matches, from its beginning. */
  seen(pattern: RegExp, deadlineMs?: number): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** Signals and waits for the end; answers exit code or signal. SIGKILL unless named. */
  end(name?: NodeJS.Signals, deadlineMs?: number): Promise<number | NodeJS.Signals>;
  readonly ended: Promise<number | NodeJS.Signals>;
};

export type ProcessRig = { start(what: ProcessToStart): Promise<RigProcess> };

const START_DEADLINE_MS = 60_000;
const END_DEADLINE_MS = 30_000;
const OUTPUT_CHARACTERS_MAX = 8 * 1024 * 1024;
const FAILURES = '.cache/failures';
/** Ends a Node process whose parent is gone, however the parent went. */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  'const parent = process.ppid; setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, "SIGTERM"); }, 500).unref();',
)}`;

/** Call it once at the top of a file. */
export function processRig(): ProcessRig {
  const started: RigProcess[] = [];
  const children = new Set<ChildProcess>();
  const killAll = (): void => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', killAll);
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') keepLogs(task.name, started);
  });
  afterAll(async () => {
    killAll();
    await Promise.all(started.map((each) => each.ended));
    process.off('exit', killAll);
  });
  return {
    start: async (what) => {
      const child = spawnIt(what);
      children.add(child);
      child.once('exit', () => children.delete(child));
      const running = handle(what, child);
      started.push(running);
      const ready =
        what.ready === undefined
          ? null
          : await running.seen(what.ready, what.deadlineMs ?? START_DEADLINE_MS);
      return Object.assign(running, { ready });
    },
  };
}

function spawnIt({ script, command, args = [], cwd, env }: ProcessToStart): ChildProcess {
  const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/tmp' };
  const options = {
    cwd,
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'] as const,
  };
  if (script !== undefined) {
    return spawn(process.execPath, ['--import', END_WITH_PARENT, script, ...args], {
      ...options,
      stdio: [...options.stdio],
    });
  }
  if (command === undefined) throw new Error('A process needs a script or a command.');
  return spawn(command, args, { ...options, stdio: [...options.stdio] });
}

function handle(what: ProcessToStart, child: ChildProcess): RigProcess {
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString('utf8')).slice(-OUTPUT_CHARACTERS_MAX);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  let end: number | NodeJS.Signals | undefined;
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    const endWith = (how: number | NodeJS.Signals): void => {
      end = how;
      resolve(how);
    };
    child.once('close', (code, signal) => endWith(code ?? signal ?? 1));
    child.once('error', (error) => {
      output += String(error);
      endWith(1);
    });
  });
  return {
    name: what.name,
    pid: child.pid ?? 0,
    ready: null,
    output: () => output,
    seen: (pattern, deadlineMs = START_DEADLINE_MS) =>
      untilSeen(what.name, pattern, deadlineMs, () => ({ output, end })),
    signal: (name) => {
      child.kill(name);
    },
    end: async (name = 'SIGKILL', deadlineMs = END_DEADLINE_MS) => {
      child.kill(name);
      await untilTrue(() => end !== undefined, {
        deadlineMs,
        what: `${what.name} ends on ${name}`,
      });
      return ended;
    },
    ended,
  };
}

async function untilSeen(
  name: string,
  pattern: RegExp,
  deadlineMs: number,
  now: () => { output: string; end: number | NodeJS.Signals | undefined },
): Promise<RegExpExecArray> {
  let match: RegExpExecArray | null = null;
  await untilTrue(
    () => {
      match = pattern.exec(now().output);
      return match !== null || now().end !== undefined;
    },
    { deadlineMs, what: `${name} prints ${pattern}` },
  ).catch((cause: unknown) => {
    throw new Error(`${name} did not print ${pattern}:\n${now().output.slice(-4000)}`, { cause });
  });
  if (match !== null) return match;
  throw new Error(`${name} ended (${now().end}) before it printed ${pattern}:\n${now().output}`);
}

function keepLogs(test: string, processes: readonly RigProcess[]): void {
  const folder = join(FAILURES, test.replaceAll(/[^\w]+/g, '-').slice(0, 80));
  mkdirSync(folder, { recursive: true });
  for (const [index, each] of processes.entries()) {
    writeFileSync(join(folder, `${index}-${each.name}.log`), each.output());
  }
}
