import { fakeClock } from '@cardea/runtime';
import {
  type Received,
  type ServiceFixture,
  testDatabase,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, makeWebhook, ROOT, startWebhookFixture, userCreated } from './webhook-fixture.ts';

const database = testDatabase();
const env = { JWT_SECRET: 'j'.repeat(64), ENCRYPTION_KEY: 'e'.repeat(64) };
let sink: WebhookSink;
const fixtures: ServiceFixture[] = [];
const start = async (more: object = {}): Promise<ServiceFixture> => {
  const fixture = await startWebhookFixture({ databaseUrl: database.url, env, ...more });
  fixtures.push(fixture);
  return fixture;
};
beforeAll(async () => {
  sink = await webhookSink();
});
afterAll(async () => {
  await Promise.all(fixtures.map((fixture) => fixture.stop()));
  await sink?.close();
});

const WEBHOOKS = 5;
const EVENTS = 60;
const WIDTH = 8;
const LEASE_MS = 60_000;

describe('several dispatchers', () => {
  it('webhooks 11 send each delivery once, and never more than eight at once to a webhook', async () => {
    const [one] = await Promise.all([start(), start(), start()]);
    if (one === undefined) throw new Error('three were started');
    const admin = adminOf(one, 'many');
    const atOnce = new Map<string, number>();
    let most = 0;
    const waiting: (() => void)[] = [];
    sink.answerWith(async ({ path }) => {
      atOnce.set(path, (atOnce.get(path) ?? 0) + 1);
      most = Math.max(most, ...atOnce.values());
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length >= WEBHOOKS) for (const answer of waiting.splice(0)) answer();
        else setTimeout(resolve, 20);
      });
      atOnce.set(path, (atOnce.get(path) ?? 0) - 1);
      return { status: 200 };
    });
    for (let at = 0; at < WEBHOOKS; at++) await makeWebhook(admin, `${sink.url}/many-${at}`);
    for (let at = 0; at < EVENTS; at++) await one.publish(userCreated('many'));
    const query = { limit: 1_000 };
    const rows = await untilTrue(
      async () => {
        const { deliveries } = (await admin.get(`${ROOT}/deliveries`, { query })).body;
        return deliveries.length === WEBHOOKS * EVENTS && deliveries;
      },
      { deadlineMs: 100_000 },
    );
    expect(rows.every((row: { success: boolean }) => row.success)).toBe(true);
    const ids = sink.received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(WEBHOOKS * EVENTS);
    expect(new Set(ids).size).toBe(WEBHOOKS * EVENTS);
    expect(most).toBeLessThanOrEqual(WIDTH);
    await Promise.all(fixtures.splice(0).map((fixture) => fixture.stop()));
  });

  it('webhooks 10 make an attempt again whose process went, under the same id', async () => {
    const clock = fakeClock(new Date());
    const first = await start({ clock });
    const admin = adminOf(first, 'crashing');
    sink.answerWith(() => new Promise(() => undefined));
    await makeWebhook(admin, `${sink.url}/crashing`);
    await first.publish(userCreated('crashing'));
    const cameTo = (): Received[] => sink.received.filter(({ path }) => path === '/crashing');
    await untilTrue(async () => {
      await clock.advance(100);
      return cameTo().length === 1;
    });
    await fixtures.splice(0)[0]?.stop();
    sink.answerWith(() => ({ status: 200 }));
    const second = await start({ clock });
    const rowsOf = async () =>
      (await adminOf(second, 'crashing').get(`${ROOT}/deliveries`, { query: { detail: true } }))
        .body.deliveries;
    expect(await rowsOf()).toEqual([]);
    clock.setWall(new Date(clock.now().getTime() + LEASE_MS));
    await untilTrue(async () => {
      await clock.advance(1_000);
      return (await rowsOf()).length === 1;
    });
    expect((await rowsOf())[0]).toMatchObject({ attempt: 1, success: true, final: true });
    const [lost, made] = cameTo();
    expect(cameTo()).toHaveLength(2);
    expect(made?.headers['webhook-id']).toBe(lost?.headers['webhook-id']);
    expect(made?.headers['x-service-attempt']).toBe('1');
    expect(made?.body).toBe(lost?.body);
  });
});
