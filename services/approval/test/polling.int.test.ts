/** Polling for a decision: rate limits, and the number of concurrent polls. */
import { randomBytes } from 'node:crypto';
import { metrics } from '@cardea/runtime';
import {
  needRedis,
  type RedisServer,
  type RestAnswer,
  type RestDriver,
  startRedis,
  testDatabase,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERVAL_SECONDS, PACE, POLLS_PER_PRINCIPAL_MAX } from '../src/requests/limits.ts';
import { type ApprovalFixture, approvalFixture, wanted } from './approval-fixture.ts';

const REQUESTS = '/api/v1/ciba/requests';
const database = testDatabase();

describe('the pace of the poll route', () => {
  needRedis();
  let redis: RedisServer;
  let both: readonly ApprovalFixture[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    const env = {
      REDIS_URL: redis.url,
      JWT_SECRET: randomBytes(32).toString('hex'),
    };
    const start = () => approvalFixture(database.url, { withoutSweeper: true, env });
    both = [await start(), await start()];
  });
  afterAll(async () => {
    for (const fixture of both) await fixture.stop();
    await redis?.kill();
  });

  /** Polls the two replicas alternately. */
  const polled = (path: string, tenantId: string, times: number) => {
    const callers = both.map((fixture) => {
      const { key: bearer } = fixture.tokens.agentKey({ tenantId, id: 'bot' });
      return fixture.rest.as({ tenant: tenantId, bearer });
    });
    return Promise.all(
      Array.from({ length: times }, (_, call) =>
        (callers[call % 2] as (typeof callers)[number]).get(path),
      ),
    );
  };
  const passed = (answers: readonly RestAnswer[]) =>
    answers.filter(({ status }) => status === 200).length;

  it('approval 18 lets twelve of twenty pass at once, at two replicas together, and one more after 2.5 s', async () => {
    const tenantId = 'pace';
    const [one] = both as [ApprovalFixture];
    await one.people(tenantId);
    const opened = await one.open(tenantId, { digest: 'd' });
    const path = `/api/v1/ciba/token/${opened['id']}`;
    const startMs = performance.now();
    const burst = await polled(path, tenantId, 20);
    const givenBack = Math.floor((performance.now() - startMs) / PACE.refillMs);
    expect(passed(burst)).toBeGreaterThanOrEqual(PACE.capacity);
    expect(passed(burst)).toBeLessThanOrEqual(PACE.capacity + givenBack);
    const slow = burst.find(({ status }) => status === 429);
    expect([slow?.code, slow?.headers.get('retry-after')]).toEqual([
      'slow_down',
      String(INTERVAL_SECONDS),
    ]);
    const emptyMs = performance.now();
    let more = 0;
    await untilTrue(
      async () => {
        more += passed(await polled(path, tenantId, PACE.capacity));
        return more > 0;
      },
      { what: 'a token has come back' },
    );
    const waitedMs = performance.now() - emptyMs;
    // A fixed window would allow nothing for half a minute, and then twelve polls at once.
    expect(waitedMs).toBeLessThan((PACE.capacity / 2) * PACE.refillMs);
    expect(more).toBeLessThan(PACE.capacity / 2);
    const other = await one.open(tenantId, { digest: 'e' });
    expect(passed(await polled(`/api/v1/ciba/token/${other['id']}`, tenantId, 2))).toBe(2);
  });
});

describe('long polls', () => {
  let fixture: ApprovalFixture;
  beforeAll(async () => {
    fixture = await approvalFixture(database.url, { withoutSweeper: true });
  });
  afterAll(async () => {
    await fixture?.stop();
  });

  const untilPolled = (count: number) =>
    untilTrue(async () => (await metrics.longPollsOpen.get()).values[0]?.value === count, {
      what: `${count} polls are open`,
    });

  it('of one tenant are a quarter of what a process holds, and the others are served', async () => {
    const SHARE = 1_250;
    const [crowd, calm] = [await fixture.people('crowd'), await fixture.people('calm')];
    const { body: asked } = await crowd.bot.post(REQUESTS, wanted());
    const path = `${REQUESTS}/${asked.id}/poll`;
    const admin = (number: number) => {
      const bearer = fixture.tokens.user({
        tenantId: crowd.id,
        id: `a${number}`,
        roles: ['admin'],
      });
      return fixture.rest.as({ tenant: crowd.id, bearer });
    };
    const admins = Array.from({ length: SHARE / POLLS_PER_PRINCIPAL_MAX }, (_, at) => admin(at));
    const leave = new AbortController();
    // On a busy machine it may take longer to open all polls than one poll waits.
    const keepOpen = async (each: RestDriver) => {
      while (!leave.signal.aborted) await each.get(path, leave);
    };
    const open = admins.flatMap((each) =>
      Array.from({ length: POLLS_PER_PRINCIPAL_MAX }, () => keepOpen(each)),
    );
    for (const each of open) each.catch(() => undefined); // The results are checked below, after all polls are closed.
    await untilPolled(SHARE);
    const surplus = await admin(SHARE).get(path);
    expect([surplus.status, surplus.code]).toEqual([429, 'too_many_polls']);

    const theirs = (await calm.bot.post(REQUESTS, wanted())).body.id;
    const waiting = calm.bot.get(`${REQUESTS}/${theirs}/poll`);
    await untilPolled(SHARE + 1);
    await calm.ann.post(`${REQUESTS}/${theirs}/approve`);
    expect((await waiting).body.status).toBe('approved');

    leave.abort();
    await Promise.allSettled(open);
    await untilPolled(0);
    const again = admin(SHARE).get(path);
    await untilPolled(1);
    await crowd.ann.post(`${REQUESTS}/${asked.id}/approve`);
    expect((await again).body.status).toBe('approved');
  });
});
