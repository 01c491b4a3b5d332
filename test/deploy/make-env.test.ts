import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { readSettings } from '@cardea/runtime';
import { afterAll, describe, expect, it } from 'vitest';
import { readCompose, referencesIn } from './rules/compose-file.ts';
import { environmentOf } from './rules/compose-subject.ts';
import { service } from './rules/mutated-compose.ts';
import { SERVICES } from './rules/rule.ts';

const folder = mkdtempSync(join(tmpdir(), 'cardea-make-env-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs in a separate folder, because the secrets are stored beside the file. */
const make = (name: string): { status: number | null; output: string } => {
  mkdirSync(join(folder, name), { recursive: true });
  const ran = spawnSync('sh', ['deploy/make-env.sh', join(folder, name, '.env')], {
    encoding: 'utf8',
  });
  return { status: ran.status, output: ran.stdout + ran.stderr };
};
const made = (name: string): { readonly [name: string]: string } =>
  parseEnv(readFileSync(join(folder, name, '.env'), 'utf8')) as { [name: string]: string };
const secretsOf = (name: string): { readonly [name: string]: string } => {
  const { SECRETS_FOLDER = '' } = made(name);
  return Object.fromEntries(
    readdirSync(SECRETS_FOLDER).map((each) => [
      each,
      readFileSync(join(SECRETS_FOLDER, each), 'utf8'),
    ]),
  );
};
const compose = readCompose(readFileSync('docker-compose.yml', 'utf8'));

describe('deploy/make-env.sh', () => {
  it('writes what its owner alone may read, and tells no secret', () => {
    const { status, output } = make('first');
    expect(status).toBe(0);
    const mode = (path: string) => statSync(join(folder, 'first', path)).mode & 0o777;
    expect([mode('.env'), mode('.secrets')]).toEqual([0o600, 0o700]);
    // Users of containers, who do not own the file, can read it. Nobody else can reach it.
    expect(mode('.secrets/JWT_SECRET')).toBe(0o444);
    const told = Object.values(secretsOf('first')).filter((value) => value.length >= 16);
    expect(told.filter((value) => output.includes(value))).toEqual([]);
    expect(told.filter((value) => JSON.stringify(made('first')).includes(value))).toEqual([]);
    expect(readdirSync(join(folder, 'first')).toSorted()).toEqual(['.env', '.secrets']);
  });

  it('names the tenant of the first admin, as the guide does', () => {
    expect(make('named').output).toContain(BOOTSTRAP_TENANT_ID);
    expect(readFileSync('docs/deploying.md', 'utf8')).toContain(BOOTSTRAP_TENANT_ID);
  });

  it('never writes over what is there, a link to nothing included', () => {
    mkdirSync(join(folder, 'kept'));
    writeFileSync(join(folder, 'kept/.env'), 'ENV=production\n');
    expect(make('kept').status).toBe(1);
    expect(readFileSync(join(folder, 'kept/.env'), 'utf8')).toBe('ENV=production\n');
    expect(existsSync(join(folder, 'kept/.secrets'))).toBe(false);
    mkdirSync(join(folder, 'link'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link/.env'));
    expect(make('link').status).toBe(1);
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
    mkdirSync(join(folder, 'secrets/.secrets'), { recursive: true });
    expect(make('secrets').status).toBe(1);
    expect(readdirSync(join(folder, 'secrets'))).toEqual(['.secrets']);
  });

  it('draws each secret anew, for each name and each time', () => {
    make('second');
    make('third');
    const values = ['second', 'third']
      .flatMap((name) => Object.values(secretsOf(name)))
      .filter((value) => /[0-9a-f]{16}/.test(value));
    expect(values).toHaveLength(20);
    expect(new Set(values).size).toBe(20);
  });

  it('gives every service settings that it starts with', () => {
    make('started');
    const subject = { file: compose, variables: made('started') };
    for (const name of SERVICES) {
      const environment = environmentOf(service(compose, name), subject, secretsOf('started'));
      for (const ENV of ['development', 'production']) {
        const read = readSettings({ ...environment, ENV });
        expect('faults' in read ? read.faults : []).toEqual([]);
      }
    }
  });

  it('makes a set-up of development: with the mailbox, and its mail in it', () => {
    make('development');
    const { COMPOSE_PROFILES = '', ENV } = made('development');
    expect(ENV).toBe('development');
    expect(secretsOf('development')['SMTP_URL']).toBe('smtp://mailbox:1025');
    expect(compose.services['mailbox']?.profiles).toEqual(COMPOSE_PROFILES.split(','));
  });

  it('leaves nothing open that the compose file requires', () => {
    make('whole');
    const required = referencesIn(compose)
      .filter(({ operator }) => operator.endsWith('?'))
      .map(({ name }) => name);
    expect(required.filter((name) => !made('whole')[name])).toEqual([]);
    expect(Object.keys(secretsOf('whole')).toSorted()).toEqual(
      Object.keys(compose.secrets).toSorted(),
    );
  });
});
