/** The command line in this process, on a database and a data folder of the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCardea } from '../src/cli/run.ts';

export const SECRETS = {
  JWT_SECRET: 'canary-jwt-secret-that-is-long-enough',
  ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
  POSTGRES_PASSWORD: 'canary-postgres-password',
  ADMIN_EMAIL: 'admin@cardea.local',
  ADMIN_PASSWORD: 'canary-admin-password',
};

/** Hashes that cost nothing. */
export const CHEAP = { ARGON2_MEMORY: '64', ARGON2_TIME: '1' };

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

export type CardeaRig = {
  readonly folder: string;
  /** All that was ever printed. */
  readonly printed: string[];
  run(line: string, env?: { [name: string]: string }, stopAfterMs?: number): Promise<Ran>;
  /** With our data folder. */
  here(line: string, stopAfterMs?: number): Promise<Ran>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the command said.
  inJson(line: string, stopAfterMs?: number): Promise<Ran & { said: any[]; last: any }>;
  remove(): void;
};

export function cardeaRig(databaseUrl: () => string): CardeaRig {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-cli-'));
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify(SECRETS));
  const printed: string[] = [];
  const run: CardeaRig['run'] = async (line, env = {}, stopAfterMs) => {
    const stop = new AbortController();
    const timer =
      stopAfterMs === undefined ? undefined : setTimeout(() => stop.abort(), stopAfterMs);
    const ran = { out: '', err: '' };
    const code = await runCardea({
      args: line.split(' ').filter((word) => word !== ''),
      env: { DATABASE_URL: databaseUrl(), ...CHEAP, ...env },
      version: '0.0.0-test',
      out: (text) => {
        ran.out += text;
      },
      err: (text) => {
        ran.err += text;
      },
      signal: stop.signal,
    });
    clearTimeout(timer);
    printed.push(ran.out, ran.err);
    return { code, ...ran };
  };
  const here: CardeaRig['here'] = (line, stopAfterMs) =>
    run(`${line} --data ${folder}`, {}, stopAfterMs);
  return {
    folder,
    printed,
    run,
    here,
    inJson: async (line, stopAfterMs) => {
      const ran = await here(`${line} --json`, stopAfterMs);
      const said = ran.out
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each));
      return { ...ran, said, last: said.at(-1) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
