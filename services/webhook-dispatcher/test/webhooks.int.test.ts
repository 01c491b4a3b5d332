import { randomUUID } from 'node:crypto';
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
  publishedOf,
  ROOT,
  startWebhookFixture,
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
const EVENTS = ['user.created'];

/** The response without its request id, which always differs. */
const alike = ({ status, body }: { status: number; body: { error: object } }) => ({
  status,
  error: { ...body.error, request_id: '' },
});

describe('webhooks', () => {
  it('webhooks 1 makes one with exactly four keys, and never shows its secret again', async () => {
    const admin = adminOf(fixture, 'making');
    const url = `${sink.url}/making?token=abc`;
    const made = await admin.post(ROOT, { url, events: EVENTS, description: 'mine' });
    expect(made.status).toBe(201);
    expect(Object.keys(made.body)).toEqual(['id', 'url', 'events', 'secret']);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const { id, secret } = made.body;
    const shown = { id, url, description: 'mine', events: EVENTS, enabled: true };
    const listed = await admin.get(ROOT);
    expect(listed.body).toEqual({ webhooks: [{ ...shown, created_at: expect.any(String) }] });
    expect((await admin.get(`${ROOT}/${id}`)).body).toEqual(listed.body.webhooks[0]);

    const { store } = fixture.host.needsOf('webhooks');
    const events = JSON.stringify(await store.readStream(`webhook-${id}`), (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(events).not.toContain(secret);
    expect(events).not.toContain('token=abc');
    const { rows } = await fixture.shared.database.system.query(
      'SELECT w::text AS whole FROM webhooks.webhooks w WHERE id = $1',
      [id],
    );
    expect(rows[0]?.['whole']).not.toContain(secret.slice(6));
  });

  it.each([
    ['ftp://example.com/', 'https'],
    ['http://example.com/', 'https'],
    ['https://user@example.com/', 'userinfo'],
    ['https://example.com/#x', 'fragment'],
    ['https://10.0.0.1/', 'private_address'],
    ['https://0xa9fea9fe/', 'private_address'],
    ['https://intranet/', 'host'],
    ['nonsense', 'syntax'],
    [`https://example.com/${'x'.repeat(2_048)}`, 'length'],
  ])('webhooks 1 refuses the URL %s by the rule %s', async (url, rule) => {
    const admin = adminOf(fixture, 'urls');
    const { status, code, body } = await admin.post(ROOT, { url, events: EVENTS });
    expect([status, code]).toEqual([400, 'invalid_url']);
    expect(body.error.details).toEqual([{ field: 'url', rule }]);
  });

  it('webhooks 1 refuses events that are none, doubled or missing', async () => {
    const admin = adminOf(fixture, 'events');
    const codeOf = async (events: readonly string[]) =>
      (await admin.post(ROOT, { url: sink.url, events })).code;
    expect(await codeOf(['user.sneezed'])).toBe('unknown_event');
    expect(await codeOf(['toString'])).toBe('unknown_event');
    const one = await admin.post(ROOT, { url: sink.url, events: [...EVENTS, 'user.sneezed'] });
    expect(one.body.error.details).toMatchObject([{ field: `events.${EVENTS.length}` }]);
    expect(one.body.error.details[0].allowed).toContain('user.created');
    expect(await codeOf([])).toBe('invalid_request');
    expect(await codeOf(['user.created', 'user.created'])).toBe('invalid_request');
    const { body } = await admin.get(`${ROOT}/event-types`);
    const names = body.event_types.map(({ name }: { name: string }) => name);
    expect(await codeOf(names)).toBeUndefined();
  });

  it('webhooks 16 changes each field alone, and refuses none, unknown and null', async () => {
    const admin = adminOf(fixture, 'changing');
    const { id } = await makeWebhook(admin, `${sink.url}/changing`);
    const path = `${ROOT}/${id}`;
    for (const change of [
      { enabled: false },
      { url: `${sink.url}/changed` },
      { events: ['user.deleted', 'user.login'] },
      { description: 'another' },
    ]) {
      const { status, body } = await admin.patch(path, change);
      expect([status, body]).toEqual([200, expect.objectContaining(change)]);
      expect((await admin.get(path)).body).toEqual(body);
    }
    expect((await admin.patch(path, { description: null })).body).not.toHaveProperty('description');
    for (const wrong of [{}, { secret: 'x' }, { url: null }, { enabled: null }, { events: null }]) {
      expect((await admin.patch(path, wrong)).code).toBe('invalid_request');
    }
    expect((await admin.patch(path, { url: 'https://127.1/' })).status).toBe(200);
    expect((await admin.patch(path, { url: 'https://169.254.169.254/' })).code).toBe('invalid_url');
  });

  it('webhooks 1 deletes once; afterwards it is as unknown as any other', async () => {
    const admin = adminOf(fixture, 'deleting');
    const { id } = await makeWebhook(admin, `${sink.url}/deleting`);
    const { status, body } = await admin.delete(`${ROOT}/${id}`);
    expect([status, body]).toEqual([200, { status: 'webhook deleted' }]);
    expect((await admin.get(ROOT)).body.webhooks).toEqual([]);
    for (const answer of [
      await admin.delete(`${ROOT}/${id}`),
      await admin.get(`${ROOT}/${id}`),
      await admin.patch(`${ROOT}/${id}`, { enabled: true }),
      await admin.post(`${ROOT}/${id}/test`),
      await admin.post(`${ROOT}/${id}/rotate-secret`),
    ]) {
      expect([answer.status, answer.code]).toEqual([404, 'webhook_not_found']);
    }
  });

  it('webhooks 9 signs with the new secret alone once a rotation was answered', async () => {
    const admin = adminOf(fixture, 'rotating');
    const { id, secret } = await makeWebhook(admin, `${sink.url}/rotating`);
    const rotated = await admin.post(`${ROOT}/${id}/rotate-secret`);
    expect(Object.keys(rotated.body)).toEqual(['secret']);
    await admin.post(`${ROOT}/${id}/test`);
    const request = await sink.waitFor(({ path }) => path === '/rotating');
    expect(isSigned(request, secret)).toBe(false);
    expect(isSigned(request, rotated.body.secret)).toBe(true);
  });

  it('webhooks 23 a repeated request makes one webhook, and says which', async () => {
    const admin = adminOf(fixture, 'repeating');
    const headers = { 'idempotency-key': 'the-same' };
    const body = { url: `${sink.url}/repeating`, events: EVENTS };
    const first = await admin.post(ROOT, body, { headers });
    const again = await admin.post(ROOT, body, { headers });
    expect([again.status, again.code]).toEqual([409, 'already_created']);
    expect(again.body.error.details).toEqual({ id: first.body.id });
    const other = await admin.post(ROOT, { ...body, description: 'other' }, { headers });
    expect([other.status, other.code]).toEqual([422, 'idempotency_key_reused']);
    expect((await admin.get(ROOT)).body.webhooks).toHaveLength(1);
  });

  it('webhooks 20 takes admins alone, and another tenant’s ids are unknown ones', async () => {
    const admin = adminOf(fixture, 'mine');
    const { id } = await makeWebhook(admin, `${sink.url}/mine`);
    await admin.post(`${ROOT}/${id}/test`);
    const [row] = (await admin.get(DELIVERIES)).body.deliveries;
    const who = { tenantId: 'mine', id: 'someone' };
    for (const bearer of [
      fixture.tokens.user(who),
      fixture.tokens.agent({ ...who, sessionId: 's' }),
      fixture.tokens.apiKey({ tenantId: 'mine', scopes: ['fga:write'] }),
    ]) {
      const answer = await fixture.rest.get(ROOT, { bearer, tenant: 'mine' });
      expect([answer.status, answer.code]).toEqual([403, 'forbidden']);
    }
    const foreign = adminOf(fixture, 'theirs');
    for (const path of ['', '/test', '/rotate-secret']) {
      const ask = (webhook: string) =>
        path === '' ? foreign.get(`${ROOT}/${webhook}`) : foreign.post(`${ROOT}/${webhook}${path}`);
      expect(alike(await ask(id))).toEqual(alike(await ask(randomUUID())));
    }
    const retry = (of: string) => foreign.post(`${DELIVERIES}/${of}/retry`);
    const unknown = alike(await retry(`${randomUUID()}.1`));
    expect(unknown.status).toBe(422);
    expect(alike(await retry(row.id))).toEqual(unknown);
    expect(alike(await retry('nonsense'))).toEqual(unknown);
    const { store } = fixture.host.needsOf('webhooks');
    await untilTrue(async () => {
      const log = await store.readLog('webhooks', 0n, 10_000);
      const denied = log.filter(
        ({ type, metadata }) => type === 'ActionDenied' && metadata.tenantId === 'mine',
      );
      return denied.length >= 2;
    });
  });

  it('shows a call that names an application the webhooks that are bound to it', async () => {
    const admin = adminOf(fixture, 'apps');
    const headers = { 'x-service-app-id': 'app-1' };
    const { body } = await admin.post(
      ROOT,
      { url: `${sink.url}/app-1`, events: EVENTS },
      { headers },
    );
    const { id } = await makeWebhook(admin, `${sink.url}/no-app`);
    expect((await admin.get(ROOT)).body.webhooks).toHaveLength(2);
    const [only, ...more] = (await admin.get(ROOT, { headers })).body.webhooks;
    expect([only.id, more]).toEqual([body.id, []]);
    expect((await admin.get(`${ROOT}/${id}`, { headers })).status).toBe(404);
    expect((await admin.delete(`${ROOT}/${id}`, { headers })).status).toBe(404);
  });
});

describe('what the others hear', () => {
  it('publishes each change by whoever made it, and the origin of a URL at the most', async () => {
    const admin = adminOf(fixture, 'telling');
    const { id } = await makeWebhook(admin, `${sink.url}/telling?token=abc`);
    const at = `${ROOT}/${id}`;
    await admin.patch(at, { events: ['user.deleted'], url: `${sink.url}/moved?token=abc` });
    await admin.post(`${at}/rotate-secret`);
    await admin.post(`${at}/test`);
    const [row] = (await admin.get(DELIVERIES)).body.deliveries;
    await admin.post(`${DELIVERIES}/${row.id}/retry`);
    await admin.delete(at);
    const events = await untilTrue(async () => {
      const published = await publishedOf(fixture, 'telling');
      return published.length === 6 ? published : undefined;
    });
    const dataOf = (type: string) => events.find((event) => event.type === type)?.data;
    const shape = { webhook_id: id, origin: sink.url, enabled: true };
    expect(dataOf('webhook.created')).toMatchObject({ ...shape, events: EVENTS });
    expect(dataOf('webhook.updated')).toMatchObject({ ...shape, changed: ['url', 'events'] });
    expect(dataOf('webhook.secret_rotated')).toMatchObject({ webhook_id: id, version: 2 });
    expect(dataOf('webhook.tested')).toMatchObject({ webhook_id: id });
    expect(dataOf('delivery.retried')).toMatchObject({ webhook_id: id, event: 'webhook.test' });
    expect(dataOf('webhook.deleted')).toMatchObject({ webhook_id: id });
    expect(new Set(events.map(({ actor }) => actor.type))).toEqual(new Set(['admin']));
    expect(JSON.stringify(events)).not.toContain('token=abc');
  });
});
