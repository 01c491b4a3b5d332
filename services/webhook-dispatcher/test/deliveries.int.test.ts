import { createHmac } from 'node:crypto';
import { topicOf } from '@cardea/contracts';
import {
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
  ROOT,
  startWebhookFixture,
  userCreated,
} from './webhook-fixture.ts';

const database = testDatabase();
let fixture: ServiceFixture;
let sink: WebhookSink;
beforeAll(async () => {
  sink = await webhookSink();
  fixture = await startWebhookFixture({ databaseUrl: database.url });
});
afterAll(async () => {
  await fixture?.stop();
  await sink?.close();
});

const DELIVERIES = `${ROOT}/deliveries`;

/** Waits until every published event has become a delivery with a row in the list. */
async function untilAllIsSent(tenantId: string): Promise<void> {
  const topics = [topicOf('identity')];
  const subscriber = fixture.shared.subscriberFor('webhooks');
  await untilTrue(
    async () =>
      [...(await subscriber.lag('webhooks', topics)).values()].every((left) => left === 0),
    { what: 'all was heard' },
  );
  const { positions, store } = fixture.host.needsOf('webhooks');
  await untilTrue(
    async () => {
      const head = await store.head('webhooks');
      if (!(await positions.reached(['deliveries'], head, 1_000))) return false;
      const { rowCount } = await fixture.shared.database.system.query(
        'SELECT FROM webhooks.queue WHERE tenant_id = $1',
        [tenantId],
      );
      return rowCount === 0;
    },
    { what: 'all was sent' },
  );
}

describe('delivering events', () => {
  it('webhooks 7 sends a test that is signed, and shows it in the very next list', async () => {
    const admin = adminOf(fixture, 'testing');
    const { id, secret } = await makeWebhook(admin, `${sink.url}/testing`);
    const tested = await admin.post(`${ROOT}/${id}/test`);
    expect([tested.status, tested.body]).toEqual([202, { status: 'sent' }]);
    const listed = await admin.get(DELIVERIES);
    expect(listed.body.deliveries).toHaveLength(1);
    expect(listed.body.deliveries[0]).toMatchObject({
      webhook_id: id,
      event: 'webhook.test',
      status_code: 200,
      success: true,
    });
    const request = await sink.waitFor(({ path }) => path === '/testing');
    expect(isSigned(request, secret)).toBe(true);
    const { event, timestamp, data } = JSON.parse(request.body);
    expect(event).toBe('webhook.test');
    expect(data).toEqual({
      test: true,
      message: expect.any(String),
      webhook: id,
      triggered: timestamp,
    });
  });

  it('webhooks 2 signs so that the secret verifies either form, and no changed byte does', async () => {
    const admin = adminOf(fixture, 'signing');
    const { secret } = await makeWebhook(admin, `${sink.url}/signing`);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{88}$/);
    await fixture.publish(userCreated('signing'));
    const request = await sink.waitFor(({ path }) => path === '/signing');
    expect(request.body).toContain('Zoë Müller');
    expect(isSigned(request, secret)).toBe(true);
    expect(isSigned({ ...request, body: request.body.replace('Zoë', 'Zoe') }, secret)).toBe(false);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const { headers, body } = request;
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    );
  });

  it('webhooks 4 a webhook that was answered hears of what comes right after', async () => {
    const admin = adminOf(fixture, 'at-once');
    for (let at = 0; at < 40; at++) {
      const { id } = await makeWebhook(admin, `${sink.url}/at-once-${at}`);
      await fixture.publish(userCreated('at-once'));
      await sink.waitFor(({ path }) => path === `/at-once-${at}`);
      await admin.delete(`${ROOT}/${id}`);
    }
  });

  it('webhooks 3 tells of a new account exactly its five fields, once, however often it hears of it', async () => {
    const admin = adminOf(fixture, 'once');
    await makeWebhook(admin, `${sink.url}/once`);
    const event = { ...userCreated('once'), id: '0198f3c2-0000-7000-8000-000000000001' };
    await fixture.publish(event);
    await fixture.publish(event);
    await fixture.publish(userCreated('once', { id: 'the-last' }));
    await untilAllIsSent('once');
    const came = sink.received.filter(({ path }) => path === '/once');
    expect(came).toHaveLength(2);
    const [first] = came.filter(({ body }) => !body.includes('the-last'));
    const { id, email, display_name, email_verified, created_at } = event.data;
    expect(JSON.parse(first?.body ?? '')).toEqual({
      event: 'user.created',
      timestamp: expect.any(String),
      data: { id, email, display_name, email_verified, created_at },
    });
    expect(Object.keys(JSON.parse(first?.body ?? ''))).toEqual(['event', 'timestamp', 'data']);
  });

  it('webhooks 3 tells nobody who has not asked: other event, other app, other tenant, disabled', async () => {
    const admin = adminOf(fixture, 'choosy');
    const other = adminOf(fixture, 'another');
    await makeWebhook(admin, `${sink.url}/unsubscribed`, ['user.deleted']);
    const bound = { url: `${sink.url}/bound`, events: ['user.created'] };
    await admin.post(ROOT, bound, { headers: { 'x-service-app-id': 'app-1' } });
    await makeWebhook(other, `${sink.url}/foreign`);
    const { id } = await makeWebhook(admin, `${sink.url}/disabled`);
    await admin.patch(`${ROOT}/${id}`, { enabled: false });
    await makeWebhook(admin, `${sink.url}/wanted`);
    await fixture.publish(userCreated('choosy'));
    await untilAllIsSent('choosy');
    expect((await admin.get(DELIVERIES)).body.deliveries).toHaveLength(1);
    const paths = new Set(sink.received.map(({ path }) => path));
    for (const path of ['/unsubscribed', '/bound', '/foreign', '/disabled']) {
      expect(paths).not.toContain(path);
    }
  });
});
