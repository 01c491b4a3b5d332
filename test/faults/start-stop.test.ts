import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { instance } from './instance.ts';

const MAIN = fileURLToPath(new URL('../../services/standalone/src/main.ts', import.meta.url));
const OWNER_ONLY = 0o077;
const READY_MS_MAX = 20_000;
const FROZEN_MS = 2_000;

const fixture = processFixture();

describe('R25 starting and stopping', () => {
  const database = testDatabase();
  const another = testDatabase();
  it('keeps data and secrets over a second start, for the owner alone', async () => {
    const cardea = await instance(fixture, { DATABASE_URL: database.url });
    const first = await cardea.start();
    const tenant = first.ready?.[1];
    expect(statSync(`${cardea.folder}/secrets.json`).mode & OWNER_ONLY).toBe(0);
    const secrets = readFileSync(`${cardea.folder}/secrets.json`, 'utf8');
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await cardea.start();
    expect(second.ready?.[1]).toBe(tenant);
    expect(readFileSync(`${cardea.folder}/secrets.json`, 'utf8')).toBe(secrets);
    await cardea.admin();

    const third = await fixture.start({
      name: 'second-on-one-folder',
      script: MAIN,
      args: ['--data', cardea.folder],
      env: { DATABASE_URL: database.url },
    });
    expect(await third.ended).toBe(78);
    expect(third.output()).toContain(`in use by process ${second.pid}`);
    expect(await second.end('SIGINT')).toBe(0);
  });

  it('refuses a database whose keys another ENCRYPTION_KEY has wrapped', async () => {
    const refused = await fixture.start({
      name: 'other-key',
      script: MAIN,
      args: ['--temp'],
      env: { DATABASE_URL: database.url },
    });
    expect(await refused.ended).toBe(78);
    expect(refused.output()).toContain('ENCRYPTION_KEY');
  });

  it('says which port is taken', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    const refused = await fixture.start({
      name: 'port-taken',
      script: MAIN,
      args: ['--temp', '--port', String(port)],
      env: { DATABASE_URL: another.url },
    });
    expect(await refused.ended).toBe(78);
    expect(refused.output()).toContain(`${port} is taken (PORT or --port)`);
    const probes = await fixture.start({
      name: 'management-port-taken',
      script: MAIN,
      args: ['--temp'],
      env: { DATABASE_URL: another.url, MANAGEMENT_PORT: String(port) },
    });
    expect(await probes.ended).toBe(78);
    expect(probes.output()).toContain(`${port} is taken (MANAGEMENT_PORT)`);
    holder.close();
  });

  it('O4 names every bad setting at once, and none of their values', async () => {
    const refused = await fixture.start({
      name: 'bad-settings',
      script: MAIN,
      args: ['--temp'],
      env: {
        PORT: 'canary-1',
        LOG_LEVEL: 'canary-2',
        JWT_SECRET: 'canary-3',
        ENCRYPTION_KEY: 'canary-4',
        JWT_EXPIRY: 'canary-5',
        PUBLIC_URL: 'canary-6',
        SIGNUP_ENABLED: 'canary-7',
        CARDEA_COLOUR: 'canary-8',
      },
    });
    expect(await refused.ended).toBe(78);
    const output = refused.output();
    for (const name of ['PORT', 'LOG_LEVEL', 'JWT_SECRET', 'ENCRYPTION_KEY', 'CARDEA_COLOUR']) {
      expect(output).toContain(name);
    }
    expect(output).not.toContain('canary');
    expect(output.trim().split('\n')).toHaveLength(9);
  });

  it('refuses a flag that it does not know', async () => {
    const refused = await fixture.start({ name: 'bad-flag', script: MAIN, args: ['--colour'] });
    expect(await refused.ended).toBe(2);
    expect(refused.output()).toContain('--data DIR');
  });
});

describe('R20 a process that does not turn', () => {
  const database = testDatabase();
  it('is not ready while it is frozen, and ready again when it goes on', async () => {
    const cardea = await instance(fixture, { DATABASE_URL: database.url });
    const running = await cardea.start();
    const ready = async (ms = READY_MS_MAX) => {
      const signal = AbortSignal.timeout(ms);
      return (await fetch(`${cardea.management}/readyz`, { signal })).status === 200;
    };
    await untilTrue(() => ready(), { what: 'it is ready' });
    running.signal('SIGSTOP');
    await expect(ready(FROZEN_MS)).rejects.toThrow();
    running.signal('SIGCONT');
    await untilTrue(() => ready(), { what: 'it is ready' });
    expect(await running.end('SIGTERM')).toBe(0);
  });
});
