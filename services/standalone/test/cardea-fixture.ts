/** Runs the command line in this process, on a database and a data folder of the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services } from '@cardea/standalone';
import { type ServiceFixture, serviceFixture } from '@cardea/testing';
import { commands } from '../src/cli/commands.ts';
import { runCardea } from '../src/cli/run.ts';

export const SECRETS = {
  JWT_SECRET: 'canary-jwt-secret-that-is-long-enough',
  ENCRYPTION_KEY: 'c0ffee00'.repeat(8),
  POSTGRES_PASSWORD: 'canary-postgres-password',
  ADMIN_EMAIL: 'admin@cardea.local',
  ADMIN_PASSWORD: 'canary-admin-password',
};

/** Password hashing at the lowest cost. */
export const CHEAP = { ARGON2_MEMORY: '64', ARGON2_TIME: '1' };

/** The deployment on which the command line works: all services in this process, with the same secrets. */
export const running = (databaseUrl: string): Promise<ServiceFixture> => {
  const { JWT_SECRET, ENCRYPTION_KEY } = SECRETS;
  const env = { JWT_SECRET, ENCRYPTION_KEY, ...CHEAP };
  return serviceFixture({ databaseUrl, definitions: services, env });
};

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

export type CardeaFixture = {
  readonly folder: string;
  /** Everything that was printed so far. */
  readonly printed: string[];
  run(line: string, env?: { [name: string]: string }, stop?: 'once it has spoken'): Promise<Ran>;
  /** Runs a command line, with the data folder of this fixture. */
  here(line: string, stop?: 'once it has spoken'): Promise<Ran>;
  inJson(
    line: string,
    stop?: 'once it has spoken',
    // biome-ignore lint/suspicious/noExplicitAny: whatever the command said.
  ): Promise<Ran & { said: any[]; last: any }>;
  remove(): void;
};

export function cardeaFixture(databaseUrl: () => string): CardeaFixture {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-cli-'));
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify(SECRETS));
  const printed: string[] = [];
  const run: CardeaFixture['run'] = async (line, env = {}, stop) => {
    const stopped = new AbortController();
    const ran = { out: '', err: '' };
    const code = await runCardea({
      args: line.split(' ').filter((word) => word !== ''),
      env: { DATABASE_URL: databaseUrl(), ...CHEAP, ...env },
      version: '0.0.0-test',
      out: (text) => {
        ran.out += text;
        if (stop !== undefined) stopped.abort();
      },
      err: (text) => {
        ran.err += text;
      },
      signal: stopped.signal,
    });
    printed.push(ran.out, ran.err);
    return { code, ...ran };
  };
  const here: CardeaFixture['here'] = (line, stop) => run(`${line} --data ${folder}`, {}, stop);
  return {
    folder,
    printed,
    run,
    here,
    inJson: async (line, stop) => {
      const ran = await here(`${line} --json`, stop);
      const said = ran.out
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each));
      return { ...ran, said, last: said.at(-1) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The example that the help shows, with this test's values in place of placeholders. */
export function exampleOf(name: string, values: { readonly [option: string]: string }): string {
  const { example = '' } = commands.find((command) => command.name === name) ?? {};
  return Object.entries(values).reduce(
    (line, [option, value]) => line.replace(new RegExp(`(--${option}) \\S+`), `$1 ${value}`),
    example,
  );
}
