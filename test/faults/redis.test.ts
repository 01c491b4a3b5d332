/** Two whole instances on one database and one Redis, which dies and returns empty. */
import { randomBytes } from 'node:crypto';
import {
  type FixtureProcess,
  needRedis,
  processFixture,
  type RedisServer,
  startRedis,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectWoken } from '../woken-poll.ts';
import {
  type Addresses,
  addresses,
  type Company,
  company,
  LIVE,
  REVOKED,
  revokeEach,
  triesOf,
  untilRevoked,
} from './company.ts';
import { type Instance, instance } from './instance.ts';
import { type Traffic, traffic } from './traffic.ts';

const AWAY_MS = testForm.long ? 60_000 : 6_000;
const FLAPS = testForm.long ? 20 : 4;
const FLAP_MS = 1_500;
/** An idle machine takes a second or two; a process that never retries never recovers. */
const WELL_AGAIN_MS = 60_000;
const START_MS_MAX = 400_000;
const TEST_MS_MAX = 600_000;
const LOG_LINES_PER_SECOND_MAX = 10;
/** The share of all requests that may be answered 503 and have to be repeated. An idle machine needs none. */
const REPEATED_SHARE_MAX = 0.01;
/** Wrong passwords for one account from one network, before it is blocked. */
const WRONG_PASSWORDS_MAX = 10;
const BLOCK_MS = 60_000;
/** Calls of a vend's poll route in 30 s, per process while they cannot count together. */
const PACE_MAX = 12;

needRedis();
const fixture = processFixture();
const database = testDatabase();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let redis: RedisServer;
let both: readonly {
  readonly at: Addresses;
  readonly own: Instance;
  readonly running: FixtureProcess;
}[];
let users: Company;
const restartRedis = async (): Promise<void> => {
  redis = await startRedis({ port: redis.port });
};

beforeAll(async () => {
  redis = await startRedis();
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    ISSUER: 'http://localhost:8080',
    DATABASE_POOL_SIZE: '8',
  };
  const [a, b] = [await instance(fixture, env), await instance(fixture, env)];
  const running = [await a.start(), await b.start()];
  const { tenant } = await a.admin();
  both = [a, b].map((own, at) => ({
    own,
    at: addresses(own.rest, tenant),
    running: running[at] as FixtureProcess,
  }));
  users = await company(a.rest, tenant);
}, START_MS_MAX);
afterAll(async () => {
  await redis?.kill();
});

/** A user with a pending approval request of an agent. */
async function asked() {
  const person = await users.person();
  const machine = await users.machine(person.token);
  const answer = await both[0]?.at.vendGated(machine);
  expect(answer?.status, answer?.text).toBe(202);
  return { person, machine, approvalId: answer?.body.data.approval_id as string };
}

async function expectNoRefresh(tokens: readonly string[]): Promise<void> {
  for (const { at } of both) {
    for (const token of tokens) expect((await at.refresh(token)).status).toBe(401);
  }
}

const statusOf = async (url: string): Promise<readonly [number, string | undefined]> => {
  const answer = await fetch(url);
  return [answer.status, ((await answer.json()) as { status?: string }).status];
};

const untilWell = () =>
  untilTrue(
    async () => {
      for (const { own, at } of both) {
        if ((await at.cacheHealth()).status !== 200) return false;
        const [status, word] = await statusOf(`${own.management}/readyz`);
        if (status !== 200 || word !== 'ready') return false;
      }
      return true;
    },
    { deadlineMs: WELL_AGAIN_MS, what: 'both are well again' },
  );

/** The maximum number of lines that one process printed within one second, without those of requests. */
function linesPerSecond(output: string): number {
  const counts = new Map<string, number>();
  // The text after the last line break may be an incomplete line.
  for (const line of output.split('\n').slice(0, -1)) {
    if (!line.startsWith('{') || line.includes('"route":')) continue;
    const second = (JSON.parse(line) as { time: string }).time.slice(0, 19);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/**
 * Failures of requests, each with what the processes logged about it, because a response alone does not show which
 * dependency was unavailable.
 */
const explained = (failures: readonly string[], logs: readonly (() => string)[]) =>
  failures.map((failure) => {
    const id = /"request_id":"([^"]+)"/.exec(failure)?.[1];
    if (id === undefined) return failure;
    const lines = logs.flatMap((log) => log().split('\n'));
    return [failure, ...lines.filter((line) => line.includes(id))].join('\n');
  });

function expectServed(work: Traffic, logs: readonly (() => string)[]): void {
  expect(explained(work.failures, logs)).toEqual([]);
  const few = work.repeated.length <= work.count() * REPEATED_SHARE_MAX;
  expect(few ? [] : explained(work.repeated, logs)).toEqual([]);
}

/** Returns the output of a process from now on. */
const fromNow = (running: FixtureProcess): (() => string) => {
  const from = running.output().length;
  return () => running.output().slice(from);
};

it('R8 O8 with Redis killed and back empty, work goes on, what was revoked stays revoked and limits hold', {
  timeout: TEST_MS_MAX,
}, async () => {
  const before = await revokeEach(users);
  const during = await revokeEach(users);
  for (const { at } of both) {
    expect(await triesOf(at, before)).toEqual(LIVE);
    expect(await triesOf(at, during)).toEqual(LIVE);
  }
  await before.revoke();
  for (const { at } of both) await untilRevoked(at, before);
  const logs = both.map(({ running }) => fromNow(running));
  const work = await traffic(both, users);
  const refreshTokens = [await users.revokedRefreshToken()];
  const decided = await asked();
  const [one, other] = both.map(({ at }) => at) as [Addresses, Addresses];

  const waiting = other.longPoll(decided.person.token, decided.approvalId);
  waiting.catch(() => undefined); // The promise is handled where it is awaited.
  await redis.kill();
  const awayMs = performance.now();
  // This follows soon, because a poll ends by itself after a while.
  expect((await one.approve(decided.person.token, decided.approvalId)).status).toBe(200);
  expect((await waiting).body.status).toBe('approved');
  for (const { at, own } of both) {
    const health = await at.cacheHealth();
    expect([health.status, health.body.status]).toEqual([503, 'unavailable']);
    const said = await untilTrue(async () => {
      const [status, word] = await statusOf(`${own.management}/readyz`);
      return word === 'degraded' ? { status } : undefined;
    });
    expect(said.status).toBe(200);
  }
  await during.revoke();
  refreshTokens.push(await users.revokedRefreshToken());
  // Without the cache every poll reads again each second.
  await expectWoken(both[1]?.own.management ?? '', async () => {
    const { person, approvalId } = await asked();
    return {
      open: () => other.longPoll(person.token, approvalId),
      decide: () => one.approve(person.token, approvalId),
    };
  });
  await expectNoRefresh(refreshTokens);
  do {
    for (const { at } of both) {
      expect(await triesOf(at, before)).toEqual(REVOKED);
      expect(await triesOf(at, during)).toEqual(REVOKED);
    }
    await pause(200);
  } while (performance.now() - awayMs < AWAY_MS);

  await restartRedis();
  let well = false;
  const returning = untilWell().finally(() => {
    well = true;
  });
  do {
    for (const { at } of both) {
      expect(await triesOf(at, before)).toEqual(REVOKED);
      expect(await triesOf(at, during)).toEqual(REVOKED);
    }
  } while (!well);
  await returning;
  for (const { at } of both) expect(await triesOf(at, during)).toEqual(REVOKED);
  await expectNoRefresh(refreshTokens);
  await work.stop();
  expectServed(work, logs);
  expect(work.count()).toBeGreaterThan(100);
  for (const log of logs) {
    expect(linesPerSecond(log())).toBeLessThanOrEqual(LOG_LINES_PER_SECOND_MAX);
    expect(log()).not.toContain('"level":"error"');
  }
});

it('R8 with Redis flapping, no more wrong passwords and polls pass than with it, and all is well after', {
  timeout: TEST_MS_MAX,
}, async () => {
  const revoked = await revokeEach(users);
  const { person, machine, approvalId } = await asked();
  const logs = both.map(({ running }) => fromNow(running));
  const work = await traffic(both, users);
  const polled: number[] = [];
  const guessed: number[] = [];
  const tryLimits = async (): Promise<void> => {
    for (const { at } of both) {
      polled.push((await at.poll(machine, approvalId)).status);
      guessed.push((await at.logIn(person.email, 'a wrong guess')).status);
    }
  };
  const startMs = performance.now();
  await revoked.revoke();
  for (let flap = 1; flap <= FLAPS; flap += 1) {
    await redis.kill();
    for (let round = 0; round < 5; round += 1) await tryLimits();
    for (const { at } of both) expect(await triesOf(at, revoked)).toEqual(REVOKED);
    await restartRedis();
    for (let round = 0; round < 5; round += 1) await tryLimits();
    for (const { at } of both) expect(await triesOf(at, revoked)).toEqual(REVOKED);
    await pause(FLAP_MS);
  }
  const windows = Math.ceil((performance.now() - startMs) / 30_000) + 1;
  await untilWell();
  for (const { at } of both) expect(await triesOf(at, revoked)).toEqual(REVOKED);
  await work.stop();
  expectServed(work, logs);

  const passed = polled.filter((status) => status === 200).length;
  expect(passed).toBeGreaterThanOrEqual(PACE_MAX);
  expect(passed).toBeLessThanOrEqual(PACE_MAX * both.length * windows);
  // Sends more calls at once than two windows allow, because on a slow machine all of the polls above may have been
  // accepted.
  const burst = Array.from({ length: 2 * PACE_MAX + 1 }, () =>
    both[0]?.at.poll(machine, approvalId),
  );
  for (const answer of await Promise.all(burst)) polled.push(answer?.status ?? 0);
  expect(new Set(polled)).toEqual(new Set([200, 429]));
  const evaluated = guessed.filter((status) => status === 401).length;
  expect(evaluated).toBeGreaterThanOrEqual(WRONG_PASSWORDS_MAX);
  // A block lasts at least a minute, and only after it are more passwords evaluated.
  const blocks = Math.floor((performance.now() - startMs) / BLOCK_MS);
  expect(evaluated).toBeLessThanOrEqual(WRONG_PASSWORDS_MAX * (1 + blocks));
  expect(new Set(guessed)).toEqual(new Set([401, 429]));
  for (const log of logs) {
    expect(linesPerSecond(log())).toBeLessThanOrEqual(LOG_LINES_PER_SECOND_MAX);
  }
});

it('R8 an instance that starts while Redis is away serves, and knows who was revoked', {
  timeout: TEST_MS_MAX,
}, async () => {
  const [one, other] = both as [(typeof both)[number], (typeof both)[number]];
  const revoked = await revokeEach(users);
  await revoked.revoke();
  await redis.kill();
  expect(await other.running.end('SIGTERM')).toBe(0);
  const again = await other.own.start();
  const key = await users.apiKey();
  expect((await other.at.check(key.key, 'ann')).body.allowed).toBe(true);
  expect(await triesOf(other.at, revoked)).toEqual(REVOKED);
  await restartRedis();
  await untilWell();
  for (const { at } of both) expect(await triesOf(at, revoked)).toEqual(REVOKED);
  for (const running of [one.running, again]) expect(await running.end('SIGTERM')).toBe(0);
});
