/** A new standalone instance in a separate folder, which is removed when it is stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { programOf } from '../processes/bundled-program.ts';

const START_MS_MAX = 240_000;
const MAIN = fileURLToPath(new URL('../../../../services/standalone/src/main.ts', import.meta.url));

export type Instance = {
  readonly base: string;
  readonly management: string;
  readonly pid: number;
  stop(): Promise<void>;
};

export async function temporaryInstance(
  print: (line: string) => void,
  settings: { readonly [name: string]: string } = {},
): Promise<Instance> {
  print('Starting a fresh Cardea …');
  // Coverage names the files of the source.
  const main = settings['NODE_V8_COVERAGE'] === undefined ? programOf(MAIN) : MAIN;
  const child = spawn(process.execPath, [main, '--temp'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...settings },
  });
  let output = '';
  const ready = new Promise<Pick<Instance, 'base' | 'management'>>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no start in time:\n${output}`)), START_MS_MAX);
    const look = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
      const [base, management] =
        output.match(/https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+(?=\n| {2}\()/g) ?? [];
      if (base === undefined || management === undefined) return;
      clearTimeout(timer);
      resolve({ base, management });
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`it ended with ${code}:\n${output}`));
    });
  });
  return {
    ...(await ready),
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
