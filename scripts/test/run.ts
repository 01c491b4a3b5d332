/** Runs a program to its end; a signal to us is forwarded to it first, and then ends the run. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

export type Ran = { readonly code: number; readonly output: string };

const SIGNAL_EXIT_BASE = 128;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Set once a signal has asked us to stop. No further step is started then. */
export const interruption: { code: number | undefined } = { code: undefined };

for (const signal of SIGNALS) {
  process.on(signal, () => {
    interruption.code = SIGNAL_EXIT_BASE + constants.signals[signal];
  });
}

export function run(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly quiet?: boolean } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...options.env },
      stdio: options.quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    // In a terminal the whole process group got the Ctrl-C already.
    const forward = (signal: NodeJS.Signals): void => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    for (const signal of SIGNALS) process.on(signal, forward);
    const done = (code: number): void => {
      for (const signal of SIGNALS) process.off(signal, forward);
      resolve({ code, output });
    };
    child.once('error', (error) => {
      output += error.message;
      done(1);
    });
    child.once('close', (code) => done(code ?? 1));
  });
}
