import { freePort, processFixture, startRedis, testDatabase, untilTrue } from '@cardea/testing';
import { describe, expect, inject, it } from 'vitest';
import { type Instance, instance } from './instance.ts';
import { repeatWhenBusy } from './repeat-when-busy.ts';

const fixture = processFixture();
/** Many times longer than an idle machine takes. */
const SEEN_MS_MAX = 120_000;
const ANSWER_MS_MAX = 20_000;
/** A start takes a few dozen turns, and some more for each second that it lasts. */
const TURNS_OF_START_MAX = 400;
/** The loop is still stuck after the test. */
const STUCK_MS = 600_000;

type Readiness = {
  readonly code: number;
  readonly status: string;
  readonly checks: {
    readonly [name: string]: { readonly status: string; readonly reason?: string };
  };
};

async function readiness({ management }: Instance): Promise<Readiness> {
  const answer = await fetch(`${management}/readyz`, {
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  return { code: answer.status, ...((await answer.json()) as Omit<Readiness, 'code'>) };
}

const signsIn = async (cardea: Instance): Promise<void> => {
  const { bearer, tenant } = await cardea.admin();
  const me = await repeatWhenBusy(() => cardea.rest.get('/api/v1/auth/me', { bearer, tenant }));
  expect(me.status).toBe(200);
};

describe('O8 R20 a loop that has stopped turning', () => {
  const database = testDatabase();
  it('makes the process not ready within 20 s, by its name', async () => {
    const cardea = await instance(fixture, {
      DATABASE_URL: database.url,
      // By this turn the start is over. Each sign-in makes all projections of identity turn.
      CARDEA_FAILPOINT: `loop.stuck=delay:${STUCK_MS}@${TURNS_OF_START_MAX}`,
    });
    const running = await cardea.start();
    await untilTrue(async () => (await readiness(cardea)).code === 200, {
      deadlineMs: SEEN_MS_MAX,
    });
    let wrong: unknown;
    const notReady = await untilTrue(
      async () => {
        await signsIn(cardea).catch((error: unknown) => {
          wrong ??= error;
        });
        const said = await readiness(cardea);
        // A busy machine may be late with another loop for a while.
        const failed = Object.entries(said.checks).filter(([, { status }]) => status === 'failed');
        const isOne = failed.length === 1 && failed[0]?.[0].startsWith('projection:') === true;
        return said.code === 503 && isOne ? said : undefined;
      },
      { deadlineMs: SEEN_MS_MAX, what: 'readiness misses one projection, and nothing else' },
    );
    expect(wrong).toBeUndefined();
    expect(notReady.status).toBe('not_ready');
    expect((await fetch(`${cardea.management}/livez`)).status).toBe(200);
    await running.end('SIGKILL');
  });
});

describe('O8 a dependency that is away', () => {
  const withoutKafka = testDatabase();
  const withoutRedis = testDatabase();

  it('Kafka: the API goes on, and readiness says what is missing', async () => {
    const cardea = await instance(fixture, {
      DATABASE_URL: withoutKafka.url,
      KAFKA_BROKERS: `127.0.0.1:${await freePort()}`,
    });
    const running = await cardea.start();
    // Consumers may notice the missing broker before a relay has anything to send.
    await untilTrue(
      async () =>
        Object.entries((await readiness(cardea)).checks).some(
          ([name, { status }]) => name.startsWith('relay:') && status === 'degraded',
        ),
      { deadlineMs: SEEN_MS_MAX, what: 'a relay that says it is degraded' },
    );
    expect(await readiness(cardea)).toMatchObject({ code: 200, status: 'degraded' });
    await signsIn(cardea);
    await untilTrue(async () => {
      const metrics = await (await fetch(`${cardea.management}/metrics`)).text();
      return metrics.includes('cardea_dependency_up{name="kafka"} 0');
    });
    await running.end('SIGKILL');
  });

  it('Redis: the API goes on, readiness and /health/cache say it, and all is well when it is back', async (context) => {
    const server = inject('redis');
    if ('missing' in server) return context.skip(server.missing);
    const redis = await startRedis();
    const cardea = await instance(fixture, {
      DATABASE_URL: withoutRedis.url,
      REDIS_URL: redis.url,
    });
    const running = await cardea.start();
    const cache = () => cardea.rest.get('/health/cache');
    const isReady = async () =>
      (await cache()).status === 200 && (await readiness(cardea)).status === 'ready';
    await untilTrue(isReady, { deadlineMs: SEEN_MS_MAX, what: 'all is well' });
    expect((await cache()).body).toMatchObject({ status: 'ok' });
    expect((await cache()).body).not.toHaveProperty('mode');
    await redis.kill();

    const said = await untilTrue(
      async () => {
        const now = await readiness(cardea);
        return now.status === 'degraded' ? now : undefined;
      },
      { deadlineMs: SEEN_MS_MAX, what: 'readiness says that something is away' },
    );
    expect(said.code).toBe(200);
    expect(Object.values(said.checks).some(({ reason }) => reason !== undefined)).toBe(true);
    const away = await cache();
    expect(away.status).toBe(503);
    expect(away.body).toMatchObject({ status: 'unavailable' });
    // A busy machine may take longer than a probe waits.
    const database = async () => (await cardea.rest.get('/health/db')).status === 200;
    await untilTrue(database, { deadlineMs: SEEN_MS_MAX, what: 'the database is well' });
    await signsIn(cardea);

    const again = await startRedis({ port: redis.port });
    await untilTrue(isReady, { deadlineMs: SEEN_MS_MAX, what: 'all is well again' });
    expect(await running.end('SIGTERM')).toBe(0);
    await again.stop();
  });
});
