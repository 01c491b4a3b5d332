/**
 * A real process that a test started: its output, its signals, its end. A Node process ends when the process that
 * started it has ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { untilTrue } from '../until-true.ts';

export type ProcessToStart = {
  /** The name of the log file. */
  readonly name: string;
  /** A `.ts` or `.js` file that this Node runs. Use `command` for anything else. */
  readonly script?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Variables in addition to PATH, HOME and the folder of compiled code. No others are inherited. */
  readonly env?: { readonly [name: string]: string };
  /** The process is up when its output matches. */
  readonly ready?: RegExp;
  readonly deadlineMs?: number;
  /** Whether the process has a separate process group, which a Ctrl-C at the terminal does not reach. */
  readonly detached?: boolean;
  /** Its output is appended to this file too. */
  readonly logFile?: string;
};

export type FixtureProcess = {
  readonly name: string;
  readonly pid: number;
  /** The match of `ready`. Its groups contain addresses and the like. */
  readonly ready: RegExpExecArray | null;
  output(): string;
  /** Waits until the output matches, from its beginning. */
  seen(pattern: RegExp, deadlineMs?: number): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** Sends the signal (SIGKILL by default) and waits for the end. Returns the exit code or signal. */
  end(name?: NodeJS.Signals, deadlineMs?: number): Promise<number | NodeJS.Signals>;
  readonly ended: Promise<number | NodeJS.Signals>;
};

/** The deadline is many times longer than either takes on an idle machine. */
const START_DEADLINE_MS = 120_000;
const END_DEADLINE_MS = 60_000;
const OUTPUT_CHARACTERS_MAX = 8 * 1024 * 1024;
/** Ends a Node process whose parent has ended, for any reason. */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  'const parent = process.ppid; setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, "SIGTERM"); }, 500).unref();',
)}`;

/** Resolves when the process is ready. `onSpawn` receives the process before. The caller has to end it in any case. */
export async function startProcess(
  what: ProcessToStart,
  onSpawn: (process: FixtureProcess) => void = () => undefined,
): Promise<FixtureProcess> {
  const running = handle(what, spawnIt(what));
  onSpawn(running);
  const ready =
    what.ready === undefined
      ? null
      : await running.seen(what.ready, what.deadlineMs ?? START_DEADLINE_MS);
  return Object.assign(running, { ready });
}

function spawnIt(what: ProcessToStart): ChildProcess {
  const { script, command, args = [], cwd, env, detached = false } = what;
  const { PATH = '', HOME = '/tmp', NODE_COMPILE_CACHE } = process.env;
  // Compiled code is inherited, so that it need not be compiled again for each process of a run.
  const inherited = { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
  const options = {
    cwd,
    env: { ...inherited, ...env },
    detached,
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

function handle(what: ProcessToStart, child: ChildProcess): FixtureProcess {
  let output = '';
  const file =
    what.logFile === undefined ? undefined : createWriteStream(what.logFile, { flags: 'a' });
  const collect = (chunk: string): void => {
    file?.write(chunk);
    output = (output + chunk).slice(-OUTPUT_CHARACTERS_MAX);
  };
  // A character of several bytes may arrive in two parts.
  child.stdout?.setEncoding('utf8').on('data', collect);
  child.stderr?.setEncoding('utf8').on('data', collect);
  let end: number | NodeJS.Signals | undefined;
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    const endWith = (how: number | NodeJS.Signals): void => {
      end = how;
      file?.end();
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
