import { needRedis, type RedisServer, startRedis, untilTrue } from '@cardea/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Cache,
  CacheUnavailable,
  type Logger,
  redisCache,
  systemClock,
} from '../src/index.ts';

const WELL_AGAIN_MS = 60_000;
/** The time in which a call ends, whatever happens to the server. */
const CALL_MS = 1_100;
const AT_ONCE_MS = 500;

needRedis();
let server: RedisServer | undefined;
let caches: Cache[] = [];
afterEach(async () => {
  await Promise.all(caches.map((cache) => cache.close()));
  caches = [];
  await server?.kill();
  server = undefined;
});

type Line = { readonly level: string; readonly message: string; readonly fields: object };

function reader() {
  const lines: Line[] = [];
  const line = (level: string) => (fields: object, message: string) => {
    lines.push({ level, message, fields });
  };
  const log: Logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => log,
  };
  return { log, lines, messages: () => lines.map(({ message }) => message) };
}

function open(url: string, more: { keyPrefix?: string } = {}) {
  const { log, lines, messages } = reader();
  const states: boolean[] = [];
  const onState = (isUp: boolean) => states.push(isUp);
  const cache = redisCache({ url, clock: systemClock, log, onState, ...more });
  caches.push(cache);
  return { cache, lines, messages, states };
}

/** Every call of the port that sends something to the server. */
const calls = (cache: Cache): readonly Promise<unknown>[] => [
  cache.get('a'),
  cache.getMany(['a', 'b']),
  cache.set('a', '1'),
  cache.setMany([{ key: 'a', value: '1', ttlMs: 1_000 }]),
  cache.setIfAbsent('a', '1'),
  cache.take('a'),
  cache.delete('a'),
  cache.increment('n', 1, 1_000),
  cache.publish('c', 'x'),
  cache.ping(),
];

/** The time is compared with a timer of this process, because a busy machine delays both alike. */
async function expectAllUnavailable(cache: Cache, withinMs: number = CALL_MS): Promise<void> {
  let isLate = false;
  const timer = setTimeout(() => setImmediate(() => (isLate = true)), withinMs);
  const results = await Promise.allSettled(calls(cache));
  clearTimeout(timer);
  expect(isLate).toBe(false);
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(CacheUnavailable) });
  }
}

const untilWell = (cache: Cache) =>
  untilTrue(
    () =>
      cache.ping().then(
        () => true,
        () => false,
      ),
    { deadlineMs: WELL_AGAIN_MS, what: 'the cache answers again' },
  );

describe('a Redis that dies', () => {
  it('fails every call at once, and comes back empty by itself, heard again by all', async () => {
    server = await startRedis();
    const { port, url } = server;
    const { cache, messages, states } = open(url);
    const heard: string[] = [];
    const gaps: string[] = [];
    await cache.subscribe('news', (message) => heard.push(message), {
      lost: () => gaps.push('lost'),
      healed: () => gaps.push('healed'),
    });
    await cache.set('a', '1');
    await server.kill();
    await expectAllUnavailable(cache);
    await expectAllUnavailable(cache);
    await untilTrue(() => gaps.length > 0);
    expect(gaps).toEqual(['lost']);

    server = await startRedis({ port });
    await untilWell(cache);
    await untilTrue(() => gaps.length === 2, { deadlineMs: WELL_AGAIN_MS, what: 'it hears again' });
    expect(await cache.get('a')).toBeUndefined();
    await cache.publish('news', 'back');
    await untilTrue(() => heard.length === 1);
    expect([heard, gaps]).toEqual([['back'], ['lost', 'healed']]);
    await untilTrue(() => states.length === 3);
    expect(states).toEqual([true, false, true]);
    expect(messages()).toEqual(['the cache answers', 'the cache is away', 'the cache answers']);
  });

  it('is noted in few lines however long and often it is away', async () => {
    server = await startRedis();
    const { port, url } = server;
    const { cache, lines } = open(url);
    await cache.ping();
    for (let flap = 0; flap < 5; flap += 1) {
      await server.kill();
      const asked = Array.from({ length: 500 }, () => cache.get('a').catch(() => undefined));
      await Promise.all(asked);
      server = await startRedis({ port });
      await untilWell(cache);
    }
    expect(lines.length).toBeLessThanOrEqual(5 * 2 + 1);
  });

  it('counts from one again, also by a script that it has not seen', async () => {
    server = await startRedis();
    const { port, url } = server;
    const { cache } = open(url);
    expect((await cache.increment('n', 5, 60_000)).count).toBe(5);
    await server.kill();
    server = await startRedis({ port });
    await untilWell(cache);
    expect(await cache.increment('n', 1, 60_000)).toEqual({ count: 1, remainingMs: 60_000 });
  });
});

describe('a Redis that is not there at first', () => {
  it('fails calls in time, holds subscriptions, and is used once it comes', async () => {
    const gone = await startRedis();
    await gone.kill();
    const { cache, states } = open(gone.url);
    await expectAllUnavailable(cache);
    const heard: string[] = [];
    const gaps: string[] = [];
    await cache.subscribe('news', (message) => heard.push(message), {
      lost: () => gaps.push('lost'),
      healed: () => gaps.push('healed'),
    });
    expect(gaps).toEqual(['lost']);
    server = await startRedis({ port: gone.port });
    await untilTrue(() => gaps.length === 2, { deadlineMs: WELL_AGAIN_MS, what: 'it hears' });
    await untilWell(cache);
    await cache.publish('news', 'at last');
    await untilTrue(() => heard.length === 1);
    await untilTrue(() => states.length === 2);
    expect(states).toEqual([false, true]);
  });
});

describe('a Redis that is frozen', () => {
  it('fails calls within a second, then at once, and is well when it thaws', async () => {
    server = await startRedis();
    const { cache, states } = open(server.url);
    const gaps: string[] = [];
    await cache.subscribe('news', () => {}, {
      lost: () => gaps.push('lost'),
      healed: () => gaps.push('healed'),
    });
    server.signal('SIGSTOP');
    await expectAllUnavailable(cache);
    await expectAllUnavailable(cache, AT_ONCE_MS);
    await untilTrue(() => gaps.length === 1, { what: 'a silent subscription is found out' });
    server.signal('SIGCONT');
    await untilWell(cache);
    await untilTrue(() => gaps.length === 2, { deadlineMs: WELL_AGAIN_MS, what: 'it hears again' });
    await untilTrue(() => states.at(-1) === true);
  });

  it('is found out though nobody asks for anything', async () => {
    server = await startRedis();
    const { cache, states } = open(server.url);
    await cache.ping();
    server.signal('SIGSTOP');
    await untilTrue(() => states.at(-1) === false, { what: 'the state is told' });
    server.signal('SIGCONT');
    await untilTrue(() => states.at(-1) === true, { what: 'the state is told' });
  });
});

describe('a Redis with a password', () => {
  const password = 'pass/word-of-this:test';

  it('is opened by it, and no line shows it, nor what was sent', async () => {
    server = await startRedis({ password });
    const { port, url } = server;
    const right = open(url);
    await right.cache.set('canary-key', 'canary-value');
    const wrong = open(`redis://:not-${encodeURIComponent(password)}@127.0.0.1:${port}`);
    await expect(wrong.cache.set('canary-key', 'canary-value')).rejects.toThrow(CacheUnavailable);
    await untilTrue(() => wrong.lines.length > 0);
    expect(wrong.lines[0]).toMatchObject({ level: 'warn', fields: { code: 'WRONGPASS' } });
    await server.kill();
    await expect(right.cache.get('canary-key')).rejects.toThrow(CacheUnavailable);
    const error = await right.cache.get('canary-key').catch((thrown: Error) => thrown);
    const shown = JSON.stringify([...right.lines, ...wrong.lines, error, String(error)]);
    expect(shown).not.toMatch(/pass.word|canary|127\.0\.0\.1/);
  });
});

describe('processes on one Redis', () => {
  it('do not meet where their prefixes differ', async () => {
    server = await startRedis();
    const [a, b] = [open(server.url, { keyPrefix: 'a:' }), open(server.url, { keyPrefix: 'b:' })];
    const heard: string[] = [];
    await b.cache.subscribe('news', (message) => heard.push(message));
    await a.cache.set('k', '1');
    await a.cache.publish('news', 'for a');
    await b.cache.publish('news', 'for b');
    expect(await b.cache.get('k')).toBeUndefined();
    await untilTrue(() => heard.length === 1);
    expect(heard).toEqual(['for b']);
  });
});

describe('a first call', () => {
  it('may find that its connection took all of its time, and nobody is warned of that', async () => {
    server = await startRedis();
    const warnings: string[] = [];
    const listen = ({ name }: Error) => warnings.push(name);
    process.on('warning', listen);
    let nowMs = 0;
    // Each read of the clock is a minute later.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 60_000));
    const { cache } = open(server.url);
    await cache.get('a').catch(() => undefined); // The result depends on the machine.
    clock.mockRestore();
    await untilWell(cache);
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});
