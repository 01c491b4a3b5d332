import { type FakeClock, fakeClock } from '@cardea/runtime';
import {
  type RestDriver,
  type ServiceFixture,
  testDatabase,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  adminOf,
  isSigned,
  makeWebhook,
  publishedOf,
  ROOT,
  startWebhookFixture,
} from './webhook-fixture.ts';

const database = testDatabase();
let fixture: ServiceFixture;
let sink: WebhookSink;
let clock: FakeClock;
let passing: NodeJS.Timeout;
beforeAll(async () => {
  sink = await webhookSink();
  clock = fakeClock(new Date());
  // Loops leave a few milliseconds between two batches.
  passing = setInterval(() => void advance(PASSING_MS), PASSING_MS);
  fixture = await start();
});
afterAll(async () => {
  await fixture?.stop();
  clearInterval(passing);
  await sink?.close();
});

const KEYS = { JWT_SECRET: 'j'.repeat(64), ENCRYPTION_KEY: 'e'.repeat(64) };
const start = () => startWebhookFixture({ databaseUrl: database.url, clock, env: KEYS });

const DELIVERIES = `${ROOT}/deliveries`;
const SECOND = 1_000;
const PASSING_MS = 10;
const DELAYS_MS = [30, 120, 600, 1_800, 7_200].map((seconds) => seconds * SECOND);
const LATEST = 1.02;
/** The dispatcher reads the clock at least this often. */
const REST_MS = 10 * SECOND;

const rowsOf = async (tenantId: string, webhookId: string) => {
  const query = { detail: true, webhook_id: webhookId };
  const { body } = await adminOf(fixture, tenantId).get(DELIVERIES, { query });
  return body.deliveries;
};

const cameTo = (path: string) => sink.received.filter((request) => request.path === path);

let moved: Promise<void> = Promise.resolve();
/** Only one advance of the clock runs at a time. */
function advance(ms: number): Promise<void> {
  moved = moved.then(() => clock.advance(ms));
  return moved;
}

/**
 * Sets the wall clock forward by `ms`. Loops that sleep do not notice that, so the monotonic clock then passes one
 * pause, after which each loop has read the wall clock.
 */
async function later(ms: number) {
  clock.setWall(new Date(clock.now().getTime() + ms));
  await advance(REST_MS);
}

/** Advances the clock past the next attempt, and waits until that attempt can be read. */
async function afterDelay(tenantId: string, webhookId: string, delayMs: number, rows: number) {
  await later(delayMs * LATEST + SECOND);
  return await untilTrue(
    async () => {
      const found = await rowsOf(tenantId, webhookId);
      return found.length === rows && found;
    },
    { what: `row ${rows}` },
  );
}

/** Waits until the queue has no deliveries of the webhook, so that none will be sent. */
const untilNothingWaits = (webhookId: string) =>
  untilTrue(async () => {
    const { rowCount } = await fixture.shared.database.system.query(
      'SELECT 1 FROM webhooks.queue WHERE webhook_id = $1',
      [webhookId],
    );
    return rowCount === 0;
  });

/** Schedules a test of the webhook, which is retried like any event. */
async function failing(tenantId: string, path: string, status = 500) {
  const answers = new Map<string, number>([[path, status]]);
  sink.answerWith((request) => ({ status: answers.get(request.path) ?? 200 }));
  const admin: RestDriver = adminOf(fixture, tenantId);
  const made = await makeWebhook(admin, `${sink.url}${path}`);
  await admin.post(`${ROOT}/${made.id}/test`);
  return { ...made, answers, path, tenantId };
}

describe('the schedule of attempts', () => {
  it('webhooks 5 tries six times at the contract’s times, and then no more', async () => {
    const { id, secret, path, tenantId } = await failing('six-times', '/six-times');
    let rows = await rowsOf(tenantId, id);
    for (const [index, delayMs] of DELAYS_MS.entries()) {
      expect(rows[0]).toMatchObject({ attempt: index + 1, status_code: 500, final: false });
      // A retry is never early, and at most 2 % late.
      const waitMs = Date.parse(rows[0].next_attempt_at) - Date.parse(rows[0].attempted_at);
      expect(waitMs).toBeGreaterThanOrEqual(delayMs);
      expect(waitMs).toBeLessThanOrEqual(delayMs * LATEST + SECOND);
      rows = await afterDelay(tenantId, id, delayMs, index + 2);
      expect(Date.parse(rows[0].attempted_at)).toBeGreaterThanOrEqual(
        Date.parse(rows[1].next_attempt_at),
      );
    }
    expect(rows[0]).toMatchObject({
      attempt: 6,
      success: false,
      final: true,
      next_attempt_at: null,
    });
    await untilNothingWaits(id);
    expect(await rowsOf(tenantId, id)).toHaveLength(6);

    const requests = cameTo(path);
    expect(requests).toHaveLength(6);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(6);
    expect(requests.every((request) => isSigned(request, secret))).toBe(true);
    expect(requests.map(({ headers }) => headers['x-service-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ]);
  });

  it.each([301, 404, 410])('webhooks 5 tries again after %s; a 200 ends it', async (status) => {
    const tenantId = `again-${status}`;
    const { id, path, answers } = await failing(tenantId, `/again-${status}`, status);
    await afterDelay(tenantId, id, DELAYS_MS[0] as number, 2);
    answers.set(path, 200);
    const rows = await afterDelay(tenantId, id, DELAYS_MS[1] as number, 3);
    expect(rows.map((row: { status_code: number }) => row.status_code)).toEqual([
      200,
      status,
      status,
    ]);
    expect(rows[0]).toMatchObject({ success: true, final: true });
    await untilNothingWaits(id);
    expect(cameTo(path)).toHaveLength(3);
  });

  it('webhooks 8 a retry by hand that arrives ends the original’s schedule', async () => {
    const { id, secret, path, tenantId, answers } = await failing('by-hand', '/by-hand');
    const admin = adminOf(fixture, tenantId);
    const [first] = await rowsOf(tenantId, id);
    answers.set(path, 200);
    await advance(REST_MS);
    const retried = await admin.post(`${DELIVERIES}/${first.id}/retry`);
    expect([retried.status, retried.body]).toEqual([202, { status: 'retried' }]);
    const rows = await rowsOf(tenantId, id);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ success: true, origin: 'manual', attempt: 1, final: true });
    expect(rows[0].delivery_id).not.toBe(first.delivery_id);

    const [before, after] = cameTo(path);
    if (before === undefined || after === undefined) throw new Error('two requests came');
    const [old, young] = [JSON.parse(before.body), JSON.parse(after.body)];
    expect(young.data).toEqual(old.data);
    expect(Date.parse(young.timestamp)).toBeGreaterThan(Date.parse(old.timestamp));
    expect(after.headers['webhook-id']).toBe(before.headers['webhook-id']);
    expect(isSigned(after, secret)).toBe(true);

    const { store } = fixture.host.needsOf('webhooks');
    await untilTrue(async () => {
      const events = await store.readStream(`delivery-${first.delivery_id}`);
      return events.at(-1)?.data['cause'] === 'superseded';
    });
    await untilNothingWaits(id);
    expect(cameTo(path)).toHaveLength(2);
    // A successful delivery may be sent again all the same.
    const again = await adminOf(fixture, tenantId).post(`${DELIVERIES}/${rows[0].id}/retry`);
    expect(again.status).toBe(202);
    expect(cameTo(path)).toHaveLength(3);
  });

  it('webhooks 16 disabling takes back what is pending, and enabling revives none of it', async () => {
    const { id, path, tenantId } = await failing('disabling', '/disabling');
    const [row] = await rowsOf(tenantId, id);
    const refused = async () =>
      (await adminOf(fixture, tenantId).post(`${DELIVERIES}/${row.id}/retry`)).code;
    await adminOf(fixture, tenantId).patch(`${ROOT}/${id}`, { enabled: false });
    expect(await refused()).toBe('webhook_unavailable');
    await adminOf(fixture, tenantId).patch(`${ROOT}/${id}`, { enabled: true });
    await adminOf(fixture, tenantId).delete(`${ROOT}/${id}`);
    expect(await refused()).toBe('webhook_unavailable');
    await untilNothingWaits(id);
    await later((DELAYS_MS[0] as number) * 2);
    expect(cameTo(path)).toHaveLength(1);
  });

  it('webhooks 16 a changed URL holds for what is pending already', async () => {
    const { id, path, tenantId } = await failing('moving', '/moving');
    const url = `${sink.url}/moved`;
    const { body } = await adminOf(fixture, tenantId).patch(`${ROOT}/${id}`, { url });
    expect(body.url).toBe(url);
    const rows = await afterDelay(tenantId, id, DELAYS_MS[0] as number, 2);
    expect(rows[0].success).toBe(true);
    expect(cameTo(path)).toHaveLength(1);
    expect(cameTo('/moved')).toHaveLength(1);
  });

  it('R12 a dispatcher that goes takes no attempt with it, and makes none twice', async () => {
    const { id, path, tenantId } = await failing('restarting', '/restarting');
    for (const [index, delayMs] of DELAYS_MS.entries()) {
      await fixture.stop();
      fixture = await start();
      const rows = await afterDelay(tenantId, id, delayMs, index + 2);
      expect(rows.map((row: { attempt: number }) => row.attempt)).toEqual(
        Array.from({ length: index + 2 }, (_, at) => index + 2 - at),
      );
    }
    expect(cameTo(path)).toHaveLength(6);
    const failed = await untilTrue(async () => {
      const events = await publishedOf(fixture, tenantId);
      return events.find(({ type }) => type === 'delivery.failed');
    });
    expect(failed).toMatchObject({
      actor: { type: 'system', id: 'webhooks' },
      data: { webhook_id: id, event: 'webhook.test', attempts: 6, status_code: 500, error: null },
    });
  });

  it('webhooks 18 disables what has failed for five days, unless one attempt succeeded', async () => {
    const { id, tenantId, answers, path } = await failing('given-up', '/given-up');
    const spared = await makeWebhook(adminOf(fixture, tenantId), `${sink.url}/spared`);
    answers.set('/spared', 500);
    const test = (webhook: string) => adminOf(fixture, tenantId).post(`${ROOT}/${webhook}/test`);
    for (let at = 0; at < 20; at++) await Promise.all([test(id), test(spared.id)]);
    answers.set('/spared', 200);
    await later(SECOND);
    await test(spared.id);
    await later(5 * 86_400 * SECOND);
    const enabledOf = async (webhook: string) =>
      (await adminOf(fixture, tenantId).get(`${ROOT}/${webhook}`)).body.enabled;
    await untilTrue(async () => {
      await advance(10 * SECOND);
      return !(await enabledOf(id));
    });
    expect(await enabledOf(spared.id)).toBe(true);
    const told = await untilTrue(async () => {
      const events = await publishedOf(fixture, tenantId);
      return events.find(({ type }) => type === 'webhook.auto_disabled');
    });
    expect(told.actor).toEqual({ type: 'system', id: 'webhooks' });
    expect(told.data).toMatchObject({ webhook_id: id, failures: expect.any(Number) });
    const { body } = await adminOf(fixture, tenantId).patch(`${ROOT}/${id}`, { enabled: true });
    expect(body.enabled).toBe(true);
    answers.set(path, 200);
  });
});
