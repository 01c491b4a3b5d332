/** Runs Docker's command line, and Compose, against one engine. */
import { spawn } from 'node:child_process';

export type DockerOptions = {
  readonly env?: { readonly [name: string]: string | undefined };
  readonly cwd?: string;
  /** Its output is also printed here. */
  readonly loud?: boolean;
};
export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

const ERROR_CHARACTERS_MAX = 4000;

/** Returns the program's output. Throws with the end of that output if the program fails. */
export async function output(
  command: string,
  args: readonly string[],
  options: DockerOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await ended(command, args, options);
  if (code === 0) return stdout.trim();
  const said = `${stdout}\n${stderr}`.trim().slice(-ERROR_CHARACTERS_MAX);
  throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said}`);
}

export function ended(
  command: string,
  args: readonly string[],
  { env = {}, cwd, loud = false }: DockerOptions = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString('utf8');
      if (loud) process.stdout.write(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString('utf8');
      if (loud) process.stderr.write(chunk);
    });
    child.once('error', (error) => resolve({ code: 1, stdout, stderr: stderr + error.message }));
    child.once('close', (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}

export const docker = (...args: readonly string[]): Promise<string> => output('docker', args);
