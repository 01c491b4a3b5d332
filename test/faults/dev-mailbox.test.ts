import { request } from 'node:http';
import { processFixture, testDatabase } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { instance } from './instance.ts';

const fixture = processFixture();
/** One database for each first start. */
const databases = [testDatabase(), testDatabase()] as const;
/** No administrator is configured, so the start creates one. */
const OWN_ADMIN = { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };

/** Node's own client, because fetch does not allow setting Host. */
const statusOf = (
  base: string,
  { method = 'GET', ...headers }: { readonly [name: string]: string } = {},
): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(`${base}/dev/mailbox`, { method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject).end();
  });

describe('S21 the mailbox of development', () => {
  it('S21 is not there, nor is the password told, where others can connect', async () => {
    const open = await instance(fixture, {
      ...OWN_ADMIN,
      DATABASE_URL: databases[0].url,
      HOST: '0.0.0.0',
    });
    const running = await open.start();
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
      expect(await statusOf(open.base, { method }), method).toBe(404);
    }
    expect(running.output()).toMatch(/Password +as set at the first start/);
    expect(running.output()).toMatch(/Mail +.*--share-dev-mailbox/);
    expect(running.output()).not.toContain('"password"');
    await running.end('SIGTERM');

    const shared = await open.start('--share-dev-mailbox');
    expect(await statusOf(open.base)).toBe(200);
    expect(await statusOf(open.base, { 'x-forwarded-for': '192.0.2.1' })).toBe(200);
    expect(shared.output()).toMatch(/Mail +\S+\/dev\/mailbox/);
    await shared.end('SIGTERM');
  });

  it('S21 is there on loopback, for whoever asks it directly', async () => {
    const { base, start } = await instance(fixture, {
      ...OWN_ADMIN,
      DATABASE_URL: databases[1].url,
      HOST: 'localhost',
    });
    const running = await start();
    expect(running.output()).toContain('"password"');
    expect(await statusOf(base)).toBe(200);
    const { port } = new URL(base);
    expect(await statusOf(base, { host: `localhost:${port}` })).toBe(200);
    const elsewhere = [
      { 'x-forwarded-for': '192.0.2.1' },
      { forwarded: 'for=192.0.2.1' },
      { 'x-forwarded-host': 'cardea.example.com' },
      { via: '1.1 proxy' },
      { host: 'cardea.example.com' },
      { host: `127.0.0.1.example.com:${port}` },
    ];
    for (const headers of elsewhere) {
      expect(await statusOf(base, headers), JSON.stringify(headers)).toBe(404);
    }
    await running.end('SIGTERM');
  });
});
