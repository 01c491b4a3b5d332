import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger as log, tcpProxy, testDatabase } from '@cardea/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase, type PostgresDatabase } from '../src/index.ts';

const database = testDatabase();
const opened: PostgresDatabase[] = [];
afterEach(async () => {
  // A connection that a fault keeps open must not keep the test file running.
  for (const each of opened.splice(0)) void each.close();
});
/** A single connection for loops. While it is in use, no other caller gets one. */
const single = (): PostgresDatabase => {
  const one = openDatabase({ connectionString: database.url, loopsPoolSize: 1, log });
  opened.push(one);
  return one;
};
const NEVER = 'SELECT pg_sleep(3600)';
const pidOf = async (of: PostgresDatabase): Promise<number> =>
  (await of.system.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;

describe('a connection whose transaction failed', () => {
  // The server itself ends the query after a minute.
  const timeout = 20_000;
  it('is closed when its query never ends, and the next caller gets another one', {
    timeout,
  }, async () => {
    const one = single();
    const gone = one.asSystem(async (sql) => {
      sql.query(NEVER).catch(() => undefined);
      throw new Error('the client went away');
    });
    await expect(gone).rejects.toThrow('the client went away');
    expect(await pidOf(one)).toBeGreaterThan(0);
  });

  it('is closed when it does not answer the ROLLBACK in time', { timeout }, async () => {
    const url = new URL(database.url);
    const gate = await tcpProxy({ port: Number(url.port) });
    url.host = `127.0.0.1:${gate.port}`;
    const one = openDatabase({ connectionString: url.href, loopsPoolSize: 1, log });
    opened.push(one);
    const before = await pidOf(one);
    const failed = one.asSystem(async (sql) => {
      await sql.query('SELECT 1 / 0').finally(() => gate.strand());
    });
    await expect(failed).rejects.toMatchObject({ code: '22012' });
    expect(await pidOf(one)).not.toBe(before);
    await gate.close();
  });

  it('is used again after the server has refused a statement and rolled back', async () => {
    const one = single();
    const before = await pidOf(one);
    await expect(one.asSystem((sql) => sql.query('SELECT 1 / 0'))).rejects.toThrow();
    await expect(one.system.query('SELECT 1 / 0')).rejects.toThrow();
    expect(await pidOf(one)).toBe(before);
  });

  it('is closed when its work failed by itself, whatever the server thinks of it', async () => {
    const one = single();
    const before = await pidOf(one);
    const failed = one.asSystem(async () => {
      throw new Error('a bug');
    });
    await expect(failed).rejects.toThrow('a bug');
    expect(await pidOf(one)).not.toBe(before);
  });
});

describe('inside a transaction', () => {
  const nested = { name: 'NestedConnection' };
  it('no second connection is to be had, of whatever pool', async () => {
    const one = openDatabase({ connectionString: database.url, log });
    opened.push(one);
    const inside = (work: () => Promise<unknown>) => one.asSystem(async () => void (await work()));
    await expect(inside(() => one.system.query('SELECT 1'))).rejects.toMatchObject(nested);
    await expect(inside(() => one.asTenant('t', async () => 1))).rejects.toMatchObject(nested);
    await expect(
      one.asTenant('t', () => one.asSystem(async () => undefined)),
    ).rejects.toMatchObject(nested);
    expect(await inside(async () => undefined)).toBeUndefined();
  });

  it('what goes on after the commit may take one', async () => {
    const one = single();
    const committed = Promise.withResolvers<void>();
    const later = await one.asSystem(async () => ({
      pid: committed.promise.then(() => pidOf(one)),
    }));
    committed.resolve();
    expect(await later.pid).toBeGreaterThan(0);
  });
});

describe('a pool that gives out nothing', () => {
  it('tells for how long, and that it is well again', async () => {
    const one = single();
    const silentMs = () => Math.max(...one.pools().map((pool) => pool.silentMs));
    const end = Promise.withResolvers<void>();
    const holding = one.asSystem(() => end.promise);
    await one.system.query('SELECT 1').catch(() => undefined);
    await expect(pidOf(one)).rejects.toMatchObject({ name: 'DatabaseUnavailable' });
    expect(silentMs()).toBeGreaterThan(3000);
    end.resolve();
    await holding;
    await pidOf(one);
    expect(silentMs()).toBe(0);
  });
});

describe('many callers at once', () => {
  it('open four connections at the same time, so that a busy server has the first of them soon', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const connectionString = `postgres://nobody@127.0.0.1:${port}/none`;
    const one = openDatabase({ connectionString, loopsPoolSize: 20, log });
    opened.push(one);
    const asked = Array.from({ length: 20 }, () => one.system.query('SELECT 1'));
    const refused = Promise.allSettled(asked);
    await sleep(1_000);
    expect(sockets.length).toBe(4);
    const outcomes = await refused;
    expect(outcomes.map(({ status }) => status)).toEqual(asked.map(() => 'rejected'));
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('get one each, though nobody gives one back', async () => {
    const one = openDatabase({ connectionString: database.url, loopsPoolSize: 20, log });
    opened.push(one);
    const all = Promise.withResolvers<void>();
    let inside = 0;
    const holding = Array.from({ length: 20 }, () =>
      one.asSystem(async (sql) => {
        const { rows } = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        inside += 1;
        if (inside === 20) all.resolve();
        await all.promise;
        return rows[0]?.pid;
      }),
    );
    expect(new Set(await Promise.all(holding)).size).toBe(20);
  });
});
