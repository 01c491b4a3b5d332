import { spawnSync } from 'node:child_process';
import {
  existsSync,
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
import { filledIn, readCompose, referencesIn } from './rules/compose-file.ts';
import { SERVICES } from './rules/rule.ts';

const OWNER_ONLY = 0o600;
const folder = mkdtempSync(join(tmpdir(), 'cardea-make-env-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const make = (name: string): { status: number | null; output: string } => {
  const ran = spawnSync('sh', ['deploy/make-env.sh', join(folder, name)], { encoding: 'utf8' });
  return { status: ran.status, output: ran.stdout + ran.stderr };
};
const made = (name: string): { readonly [name: string]: string } =>
  parseEnv(readFileSync(join(folder, name), 'utf8')) as { [name: string]: string };
const SECRETS = /SECRET|PASSWORD|ENCRYPTION_KEY/;
const secretsIn = (file: { readonly [name: string]: string }): readonly string[] =>
  Object.keys(file).filter((name) => SECRETS.test(name));

describe('deploy/make-env.sh', () => {
  it('writes what its owner alone may read, and tells no secret', () => {
    const { status, output } = make('first');
    expect(status).toBe(0);
    expect(statSync(join(folder, 'first')).mode & 0o777).toBe(OWNER_ONLY);
    const told = Object.values(made('first')).filter((value) => value.length >= 16);
    expect(told.filter((value) => output.includes(value))).toEqual([]);
    expect(readdirSync(folder)).toEqual(['first']);
  });

  it('names the tenant of the first admin, as the guide does', () => {
    expect(make('named').output).toContain(BOOTSTRAP_TENANT_ID);
    expect(readFileSync('docs/deploying.md', 'utf8')).toContain(BOOTSTRAP_TENANT_ID);
  });

  it('never writes over what is there, a link to nothing included', () => {
    writeFileSync(join(folder, 'kept'), 'JWT_SECRET=mine\n');
    expect(make('kept').status).toBe(1);
    expect(readFileSync(join(folder, 'kept'), 'utf8')).toBe('JWT_SECRET=mine\n');
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
    expect(make('link').status).toBe(1);
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
    expect(make(join('no', 'such', 'folder')).status).not.toBe(0);
  });

  it('draws each secret anew, for each name and each time', () => {
    make('second');
    make('third');
    const [second, third] = [made('second'), made('third')];
    const values = [second, third].flatMap((file) => secretsIn(file).map((name) => file[name]));
    expect(secretsIn(second).length).toBe(7);
    expect(new Set(values).size).toBe(14);
  });

  it('gives every service settings that it starts with', () => {
    make('started');
    const { services } = readCompose(readFileSync('docker-compose.yml', 'utf8'));
    for (const name of SERVICES) {
      const environment = filledIn(services[name]?.environment ?? {}, made('started'));
      for (const ENV of ['development', 'production']) {
        const read = readSettings({ ...environment, ENV });
        expect('faults' in read ? read.faults : []).toEqual([]);
      }
    }
  });

  it('makes a set-up of development: with the mailbox, and its mail in it', () => {
    make('development');
    const { services } = readCompose(readFileSync('docker-compose.yml', 'utf8'));
    const { COMPOSE_PROFILES = '', SMTP_URL, ENV } = made('development');
    expect({ ENV, SMTP_URL }).toEqual({ ENV: 'development', SMTP_URL: 'smtp://mailbox:1025' });
    expect(services['mailbox']?.profiles).toEqual(COMPOSE_PROFILES.split(','));
  });

  it('leaves nothing open that the compose file requires', () => {
    make('whole');
    const required = referencesIn(readCompose(readFileSync('docker-compose.yml', 'utf8')))
      .filter(({ operator }) => operator.endsWith('?'))
      .map(({ name }) => name);
    expect(required.filter((name) => !made('whole')[name])).toEqual([]);
  });
});
