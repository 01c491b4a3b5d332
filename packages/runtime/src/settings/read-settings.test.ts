import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { formatFaults, readSettings, takeSettings } from './read-settings.ts';

const required = {
  DATABASE_URL: 'postgres://u:pw-canary@127.0.0.1:5432/cardea',
  REDIS_URL: 'redis://127.0.0.1:6379',
  JWT_SECRET: 'a jwt secret of more than 32 characters',
  ENCRYPTION_KEY: 'ab12'.repeat(16),
};
const faultsOf = (env: Record<string, string>, standalone = false) => {
  const read = readSettings(env, { standalone });
  return 'faults' in read ? read.faults.map(({ name, fault }) => `${name} ${fault}`) : [];
};
const settingsOf = (env: Record<string, string>, standalone = false) => {
  const read = readSettings(env, { standalone, cpus: 4 });
  if ('faults' in read) throw new Error(formatFaults(read.faults));
  return read.ok;
};

describe('the settings', () => {
  it('need only what the contract calls required', () => {
    expect(faultsOf({})).toEqual([
      'DATABASE_URL is required',
      'REDIS_URL is required',
      'JWT_SECRET is required',
      'ENCRYPTION_KEY is required',
    ]);
    expect(settingsOf(required)).toMatchObject({
      ENV: 'production',
      PORT: 8080,
      ISSUER: 'http://localhost:8080',
      JWT_EXPIRY: 900,
      REFRESH_TOKEN_EXPIRY: 604_800,
      SHUTDOWN_DELAY: 5000,
      HASH_CONCURRENCY: 3,
      RATE_LIMIT_FACTOR: 1,
    });
    expect(settingsOf({ PORT: '9000' }, true)).toMatchObject({
      ENV: 'development',
      PUBLIC_URL: 'http://localhost:9000',
      HOST: undefined,
      SHUTDOWN_DELAY: 0,
      RATE_LIMIT_FACTOR: 100,
    });
  });

  it('read durations in seconds, minutes, hours and days', () => {
    for (const [text, seconds] of [
      ['900', 900],
      ['2s', 2],
      ['15m', 900],
      ['1h', 3600],
    ] as const) {
      expect(settingsOf({ ...required, JWT_EXPIRY: text }).JWT_EXPIRY).toBe(seconds);
    }
    expect(faultsOf({ ...required, JWT_EXPIRY: '25h', REFRESH_TOKEN_EXPIRY: '1w' })).toEqual([
      'JWT_EXPIRY has not the form expected',
      'REFRESH_TOKEN_EXPIRY has not the form expected',
    ]);
  });

  it('O4 name every fault in one message and no value', () => {
    const bad = {
      ...required,
      ENCRYPTION_KEY: 'f'.repeat(63),
      JWT_SECRET: 'short-canary',
      PORT: 'canary',
      LOG_LEVEL: 'canary',
      ADMIN_EMAIL: 'a@example.com',
      CARDEA_TYPO: 'canary',
      ISSUER: 'https://canary.example/?x',
      DATABASE_POOL_SIZE: '0',
    };
    const read = readSettings(bad);
    if ('ok' in read) throw new Error('accepted');
    const message = formatFaults(read.faults);
    expect(message.split('\n')).toHaveLength(9);
    expect(message).not.toMatch(/canary|ffff/);
  });

  it.each(['PUBLIC_URL', 'ISSUER'])(
    'refuse a path in %s, and say what to do [identity-24]',
    (name) => {
      for (const url of ['https://id.example.com/auth', 'https://id.example.com/a/b']) {
        const read = readSettings({ ...required, [name]: url });
        if ('ok' in read) throw new Error('accepted');
        expect(formatFaults(read.faults)).toMatch(new RegExp(`${name} .*a host of its own`));
      }
      for (const url of ['https://id.example.com', 'http://localhost:8080', 'https://[::1]:8443']) {
        expect(faultsOf({ ...required, [name]: url })).toEqual([]);
      }
    },
  );

  it('refuse 63, 65 and non-hexadecimal digits of an encryption key', () => {
    for (const key of [`${'a1'.repeat(31)}a`, `${'a1'.repeat(32)}a`, 'g1'.repeat(32)]) {
      expect(faultsOf({ ...required, ENCRYPTION_KEY: key })).toEqual([
        'ENCRYPTION_KEY has not the form expected',
      ]);
    }
  });

  it('S15 count the URL of every server as a secret, for it may hold a password', () => {
    const urls = {
      EVENTSTORE_URL: 'esdb://admin:pw-canary@127.0.0.1:2113?tls=false',
      SMTP_URL: 'smtp://user:pw-canary@127.0.0.1:25',
      DATABASE_URL: 'postgres://u:pw-canary@127.0.0.1:5432/cardea',
      MIGRATION_DATABASE_URL: 'postgres://o:pw-canary@127.0.0.1:5432/cardea',
      REDIS_URL: 'redis://:pw-canary@127.0.0.1:6379',
    };
    const settings = settingsOf({ ...required, ...urls });
    expect(settings.EVENTSTORE_URL?.reveal()).toBe(urls.EVENTSTORE_URL);
    expect(`${JSON.stringify(settings)} ${inspect(settings)}`).not.toContain('pw-canary');
    const bad = Object.fromEntries(Object.keys(urls).map((name) => [name, 'ftp://pw-canary']));
    const read = readSettings({ ...required, ...bad });
    if (!('faults' in read)) throw new Error('taken');
    expect(read.faults).toHaveLength(5);
    expect(formatFaults(read.faults)).not.toContain('pw-canary');
  });

  it('ignore the variables of `cardea users import`, which a shell may export for several commands', () => {
    const names = [
      'URL',
      'CLIENT_ID',
      'CLIENT_SECRET',
      'ACCESS_TOKEN',
      'FIREBASE_HASH_CONFIG_FILE',
    ];
    const variables = Object.fromEntries(names.map((name) => [`CARDEA_${name}`, 'x']));
    expect(faultsOf({ ...required, ...variables })).toEqual([]);
    expect(faultsOf({ ...required, CARDEA_CLIENT: 'x' })).toEqual(['CARDEA_CLIENT is unknown']);
  });

  it('take a secret from a file, and refuse two sources of one secret', () => {
    const folder = mkdtempSync(join(tmpdir(), 'settings-'));
    try {
      const file = join(folder, 'secret');
      writeFileSync(file, `${required.JWT_SECRET}\n`);
      const { JWT_SECRET, ...rest } = required;
      expect(settingsOf({ ...rest, JWT_SECRET_FILE: file }).JWT_SECRET.reveal()).toBe(JWT_SECRET);
      expect(faultsOf({ ...required, JWT_SECRET_FILE: file })).toEqual([
        'JWT_SECRET and JWT_SECRET_FILE are both set',
      ]);
      expect(faultsOf({ ...rest, JWT_SECRET_FILE: join(folder, 'none') })).toContain(
        'JWT_SECRET_FILE cannot be read',
      );
      const empty = join(folder, 'empty');
      writeFileSync(empty, '\n');
      expect(faultsOf({ ...rest, JWT_SECRET_FILE: empty })).toEqual(['JWT_SECRET is required']);
      const admin = { ...required, ADMIN_EMAIL: 'a@example.com', ADMIN_PASSWORD_FILE: empty };
      expect(faultsOf(admin)).toEqual(['ADMIN_PASSWORD is missing']);
      expect(settingsOf({ ...required, ADMIN_PASSWORD_FILE: empty }).ADMIN_EMAIL).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('refuse in production what only an example or a test would set', () => {
    const same = 'ab12'.repeat(16);
    expect(faultsOf({ ...required, JWT_SECRET: same, ENCRYPTION_KEY: same })).toEqual([
      'JWT_SECRET equals ENCRYPTION_KEY',
    ]);
    expect(faultsOf({ ...required, ENCRYPTION_KEY: '0'.repeat(64) })).toHaveLength(1);
    const test = {
      CARDEA_FAILPOINT: 'append.before_commit=kill',
      WEBHOOK_RETRY_DELAYS: '1,1,1,1,1',
    };
    expect(faultsOf({ ...required, ...test })).toEqual([
      'CARDEA_FAILPOINT is set',
      'WEBHOOK_RETRY_DELAYS is not the schedule',
    ]);
    expect(faultsOf({ ...required, ...test, ENV: 'development' })).toEqual([]);
  });

  it.each(['elevenchars', '123qweasdzxc', 'MotherFucker', 'ééééééééééé'])(
    'refuse "%s" as the password of the first admin in production',
    (password) => {
      const env = { ...required, ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: password };
      expect(faultsOf(env)).toEqual(['ADMIN_PASSWORD is too weak for production']);
      const read = readSettings(env);
      const said = 'faults' in read ? formatFaults(read.faults) : '';
      expect(said).toContain(
        'at least 12 characters, and none of the 10,000 most common passwords',
      );
      expect(said).not.toContain(password);
      expect(faultsOf({ ...env, ENV: 'development' })).toEqual([]);
      expect(faultsOf({ ...env, ADMIN_PASSWORD: `${password} and more` })).toEqual([]);
    },
  );

  it('S15 leave the environment without secrets, and print none', () => {
    const env: Record<string, string> = { ...required };
    const read = takeSettings(env);
    expect(env).toEqual({});
    if ('faults' in read) throw new Error('refused');
    const printed = `${JSON.stringify(read.ok)} ${inspect(read.ok)} ${read.ok.JWT_SECRET}`;
    for (const value of Object.values(required)) expect(printed).not.toContain(value);
    expect(read.ok.JWT_SECRET.reveal()).toBe(required.JWT_SECRET);
  });
});
