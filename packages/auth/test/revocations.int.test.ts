/** Revocations between processes when their shared Redis is lost, comes back empty, or comes back unchanged. */
import {
  type Cache,
  type CacheAlarm,
  CacheUnavailable,
  redisCache,
  systemClock,
} from '@cardea/runtime';
import {
  needRedis,
  type RedisServer,
  redisSays,
  silentLogger,
  startRedis,
  testAlarm,
  untilTrue,
} from '@cardea/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MirroredRevocations, type Revocation, revocations } from '../src/index.ts';

const HOUR_MS = 3_600_000;
const WELL_AGAIN_MS = 60_000;
const PASSWORD = 'of this file';

needRedis();
let server: RedisServer;
/** The state of identity's tables. */
let tables: Revocation[];
/** How often identity was asked because revocations may have been missed. */
let asked: number;
let processes: Process[];
/** The channel that bypasses the cache. */
let alarm: CacheAlarm;
beforeEach(async () => {
  server = await startRedis({ password: PASSWORD });
  tables = [];
  asked = 0;
  processes = [];
  alarm = testAlarm();
});
afterEach(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  await server.kill();
});

type Process = {
  readonly list: MirroredRevocations;
  readonly cache: Cache;
  stop(): Promise<void>;
};

async function start(of: { readonly keeps?: true; readonly url?: string } = {}): Promise<Process> {
  const url = of.url ?? server.url;
  const cache = redisCache({
    url,
    clock: systemClock,
    log: silentLogger,
    alarm: { ...alarm, raise: () => alarm.raise() },
  });
  const list = revocations({
    cache,
    clock: systemClock,
    ttlMs: HOUR_MS,
    ended: async (all) => {
      asked += 1;
      return all.map((revocation) => tables.some((has) => isSame(has, revocation)));
    },
  });
  await list.start();
  if (of.keeps) await list.keepFilled(async () => [...tables]);
  const stopped = new AbortController();
  const running = list.run(
    stopped.signal,
    () => {},
    () => {},
  );
  const process: Process = {
    list,
    cache,
    stop: async () => {
      stopped.abort();
      await running;
      await list.stop();
      await cache.close();
    },
  };
  processes.push(process);
  return process;
}

const isSame = (a: Revocation, b: Revocation): boolean => a.kind === b.kind && a.id === b.id;

/** Revokes as identity does: the event first, then the revocation. */
async function revoke(identity: Process, ...list: readonly Revocation[]): Promise<void> {
  tables.push(...list);
  for (const { kind, id } of list) await identity.list.add(kind, [id]);
}
async function restore(identity: Process, revocation: Revocation): Promise<void> {
  tables = tables.filter((each) => !isSame(each, revocation));
  await identity.list.remove(revocation.kind, [revocation.id]);
}

/** Checks a revocation as a service does: in its local copy if that is complete, otherwise by a request to identity. */
async function isRevoked({ list }: Process, revocation: Revocation): Promise<boolean> {
  if (list.isRevoked(revocation.kind, revocation.id)) return true;
  if (list.subscriptionEpoch() !== undefined) return false;
  return (await list.look([revocation])).revoked[0] === true;
}
const isRevokedLive = async ({ list }: Process, revocation: Revocation): Promise<boolean> =>
  (await list.look([revocation])).revoked[0] === true;

const untilWhole = (...all: readonly Process[]) =>
  untilTrue(() => all.every(({ list }) => list.subscriptionEpoch() !== undefined), {
    deadlineMs: WELL_AGAIN_MS,
    what: 'every process has heard all list',
  });

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

const ANN: Revocation = { kind: 'user', id: 'ann' };
const KEY: Revocation = { kind: 'key', id: 'k1' };
const AGENT: Revocation = { kind: 'agent', id: 'a1' };
const SESSION: Revocation = { kind: 'asid', id: 's1' };

describe('a revocation between processes', () => {
  it('is known everywhere when its call has answered, and asks nobody', async () => {
    const [identity, other] = [await start({ keeps: true }), await start()];
    await untilWhole(identity, other);
    asked = 0;
    await revoke(identity, KEY);
    await untilTrue(() => other.list.isRevoked('key', 'k1'));
    expect(await isRevokedLive(other, KEY)).toBe(true);
    expect(await isRevokedLive(other, ANN)).toBe(false);
    expect(asked).toBe(0);
  });

  it('is known to a process that starts later, before it believes its copy', async () => {
    const identity = await start({ keeps: true });
    await revoke(identity, KEY);
    const late = await start();
    expect(await isRevoked(late, KEY)).toBe(true);
    await untilWhole(late);
    expect(late.list.isRevoked('key', 'k1')).toBe(true);
  });

  it('holds while Redis is away, also one that is made meanwhile, and after it is back empty', async () => {
    const [identity, other] = [await start({ keeps: true }), await start()];
    await untilWhole(identity, other);
    await revoke(identity, KEY, AGENT);
    const { port } = server;
    await server.kill();
    await revoke(identity, SESSION, ANN);
    for (const revocation of [KEY, AGENT, SESSION, ANN]) {
      for (const process of [identity, other]) {
        expect(await isRevoked(process, revocation)).toBe(true);
        expect(await isRevokedLive(process, revocation)).toBe(true);
      }
    }
    server = await startRedis({ port, password: PASSWORD });
    const untilBack = performance.now() + WELL_AGAIN_MS;
    do {
      await nextTurn();
      for (const revocation of [KEY, AGENT, SESSION, ANN]) {
        expect(await isRevoked(other, revocation)).toBe(true);
        expect(await isRevokedLive(other, revocation)).toBe(true);
      }
    } while (other.list.subscriptionEpoch() === undefined && performance.now() < untilBack);
    await untilWhole(identity, other);
    expect(other.list.isRevoked('user', 'ann')).toBe(true);
    expect(await other.cache.getMany(['rev:user:ann', 'rev:key:k1', 'rev:agent:a1'])).toEqual([
      '1',
      '1',
      '1',
    ]);
  });

  it('that was taken back while Redis was away is taken back everywhere after it', async () => {
    const [identity, other] = [await start({ keeps: true }), await start()];
    await untilWhole(identity, other);
    await revoke(identity, ANN, AGENT);
    await untilTrue(() => other.list.isRevoked('agent', 'a1'));
    const { port } = server;
    await server.kill();
    await restore(identity, ANN);
    server = await startRedis({ port, password: PASSWORD });
    await untilTrue(() => identity.cache.ping().then(() => true));
    await untilWhole(identity, other);
    for (const process of [identity, other]) {
      expect(await isRevoked(process, ANN)).toBe(false);
      expect(await isRevokedLive(process, ANN)).toBe(false);
      expect(await isRevoked(process, AGENT)).toBe(true);
    }
  });

  it('that Redis did not take is in it after a pause in which it forgot nothing', async () => {
    const [identity, other] = [await start({ keeps: true }), await start()];
    await untilWhole(identity, other);
    await revoke(identity, ANN);
    server.signal('SIGSTOP');
    await revoke(identity, KEY);
    await restore(identity, ANN);
    server.signal('SIGCONT');
    await untilTrue(async () => (await other.cache.get('rev:key:k1').catch(() => '')) === '1');
    await untilTrue(async () => (await other.cache.get('rev:user:ann')) === undefined);
    await untilWhole(identity, other);
    // If nobody noticed the pause, each revocation is published after it was written.
    await untilTrue(
      () => other.list.isRevoked('key', 'k1') && !other.list.isRevoked('user', 'ann'),
    );
  });

  it('is written again when all keys are gone and no connection was lost', async () => {
    const [identity, other] = [await start({ keeps: true }), await start()];
    await untilWhole(identity, other);
    await revoke(identity, KEY);
    await identity.cache.delete('rev:key:k1');
    await identity.cache.delete('rev:generation');
    expect(await isRevokedLive(other, KEY)).toBe(true);
    await untilTrue(async () => (await other.cache.get('rev:generation')) !== undefined);
    expect(await other.cache.get('rev:key:k1')).toBe('1');
  });

  it('is looked up at identity by a process that starts while Redis is away', async () => {
    await server.kill();
    const identity = await start({ keeps: true });
    const other = await start();
    await revoke(identity, KEY);
    expect(await isRevoked(other, KEY)).toBe(true);
    expect(await isRevoked(other, ANN)).toBe(false);
    server = await startRedis({ port: server.port, password: PASSWORD });
    await untilWhole(identity, other);
    expect(other.list.isRevoked('key', 'k1')).toBe(true);
  });

  it('is asked about at identity every time where nobody answers for all revocations', async () => {
    const lonely = await start();
    await lonely.list.check();
    expect(lonely.list.subscriptionEpoch()).toBeUndefined();
    tables.push(KEY);
    expect([await isRevoked(lonely, KEY), await isRevoked(lonely, ANN), asked]).toEqual([
      true,
      false,
      2,
    ]);
  });

  it('H1 holds everywhere at once though Redis takes no writes, and no longer than that', async () => {
    const [identity, other] = [await start({ keeps: true }), await start()];
    await untilWhole(identity, other);
    expect(await redisSays(server.url, ['CONFIG', 'SET', 'maxmemory', '1'])).toBe('+OK');
    await revoke(identity, ANN);
    expect([await isRevoked(other, ANN), await isRevokedLive(other, ANN)]).toEqual([true, true]);
    expect(await redisSays(server.url, ['CONFIG', 'SET', 'maxmemory', '0'])).toBe('+OK');
    await untilWhole(identity, other);
    expect(await other.cache.get('rev:user:ann')).toBe('1');
  });

  it('H1 is refused until the others can be told, also when it is repeated', async () => {
    const identity = await start({ keeps: true });
    await untilWhole(identity);
    const raise = alarm.raise;
    alarm = {
      ...alarm,
      raise: () => Promise.reject(new CacheUnavailable('The database is away too.')),
    };
    expect(await redisSays(server.url, ['CONFIG', 'SET', 'maxmemory', '1'])).toBe('+OK');
    await expect(revoke(identity, ANN)).rejects.toThrow(CacheUnavailable);
    await expect(identity.list.settled()).rejects.toThrow(CacheUnavailable);
    alarm = { ...alarm, raise };
    await identity.list.settled();
  });
});
