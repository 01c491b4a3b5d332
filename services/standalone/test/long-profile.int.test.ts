/**
 * A member changes their profile more often than a stream can be read at once. This blocks no other user's events, and
 * each hour has a limit.
 */
import { systemClock } from '@cardea/runtime';
import { services } from '@cardea/standalone';
import {
  type ServiceFixture,
  serviceFixture,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** `CHANGES_MAX` of the event store is 1,000 an hour. */
const CHANGES_PER_HOUR = 1_000;
const CHANGES = testForm.long ? 10_010 : 1_100;
const AT_ONCE = 4;
const HOUR_MS = 3_600_000;
const PLAYED_MS_MAX = testForm.long ? 1_200_000 : 120_000;
const PASSWORD = 'a long enough phrase';

const database = testDatabase();
let offsetMs = 0;
const clock = {
  ...systemClock,
  now: () => new Date(Date.now() + offsetMs),
  monotonicMs: () => systemClock.monotonicMs() + offsetMs,
};
let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await serviceFixture({
    databaseUrl: database.url,
    clock,
    definitions: services.filter(({ name }) => ['identity', 'audit'].includes(name)),
    env: {
      JWT_SECRET: 'j'.repeat(64),
      ENCRYPTION_KEY: 'e0'.repeat(32),
      ARGON2_MEMORY: '8',
      ARGON2_TIME: '1',
      RATE_LIMIT_FACTOR: '1000000',
    },
  });
});
afterAll(() => fixture?.stop());

async function signUp(email: string) {
  const body = { email, password: PASSWORD, company_name: 'Acme' };
  const answer = await fixture.rest.post('/api/v1/auth/signup', body);
  expect(answer.status).toBe(201);
  return answer.body as { readonly tenant_id: string; readonly access_token: string };
}
const register = (tenant: string, email: string) =>
  fixture.rest.post('/api/v1/auth/register', { email, password: PASSWORD }, { tenant });

async function publishedOf(tenantId: string): Promise<readonly Published[]> {
  const { rows } = await fixture.shared.database.system.query<{ value: Published }>(
    `SELECT value FROM bus.records
     WHERE topic = 'cardea.identity.events.v1' AND value ->> 'tenantId' = $1`,
    [tenantId],
  );
  return rows.map(({ value }) => value);
}
type Published = { readonly type: string; readonly data: { readonly display_name?: string } };

it('C4 10,010 profile changes of a member park nothing, and the events of others are published', {
  timeout: PLAYED_MS_MAX,
}, async () => {
  const { tenant_id: tenant } = await signUp('owner@acme.example.com');
  const email = 'member@acme.example.com';
  expect((await register(tenant, email)).status).toBe(201);
  const logIn = async () => {
    const { body } = await fixture.rest.post(
      '/api/v1/auth/login',
      { email, password: PASSWORD },
      { tenant },
    );
    return fixture.rest.as({ bearer: body.access_token, tenant });
  };
  const beganMs = performance.now();
  const statuses = new Map<number, number>();
  let caller = await logIn();
  const change = async (at: number) => {
    const { status } = await caller.patch('/api/v1/user/profile', { display_name: `name ${at}` });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  for (let made = 0; made < CHANGES; ) {
    const some = Math.min(CHANGES_PER_HOUR, CHANGES - made);
    for (let at = 0; at < some; at += AT_ONCE) {
      const batch = Array.from({ length: Math.min(AT_ONCE, some - at) }, (_, n) => made + at + n);
      await Promise.all(batch.map(change));
    }
    made += some;
    if (some === CHANGES_PER_HOUR) {
      expect((await caller.patch('/api/v1/user/profile', { display_name: 'one more' })).code).toBe(
        'rate_limited',
      );
    }
    offsetMs += HOUR_MS;
    caller = await logIn();
  }
  process.stdout.write(
    `${CHANGES} changes in ${Math.round((performance.now() - beganMs) / 1_000)} s\n`,
  );
  expect(Object.fromEntries(statuses)).toEqual({ 200: CHANGES });
  const last = await caller.patch('/api/v1/user/profile', { display_name: 'the last' });
  expect(last.status).toBe(200);
  const { tenant_id: other } = await signUp('owner@calm.example.com');
  await untilTrue(async () =>
    (await publishedOf(tenant)).some(({ data }) => data.display_name === 'the last'),
  );
  await untilTrue(async () =>
    (await publishedOf(other)).some(({ type }) => type === 'user.created'),
  );
  const updates = (await publishedOf(tenant)).filter(({ type }) => type === 'user.updated');
  expect(updates.length).toBe(CHANGES + 1);
  for (const schema of ['identity', 'audit']) {
    const { rows } = await fixture.shared.database.system.query(
      `SELECT * FROM ${schema}.parked_events`,
    );
    expect(rows).toEqual([]);
  }
});
