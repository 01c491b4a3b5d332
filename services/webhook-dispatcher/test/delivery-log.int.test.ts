import { rebuildProjection } from '@cardea/read-models';
import {
  type ServiceFixture,
  silentLogger,
  testDatabase,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveriesTable } from '../src/deliveries/deliveries.projection.ts';
import { healthTable } from '../src/deliveries/health.projection.ts';
import { webhooksTable } from '../src/webhooks/webhooks.projection.ts';
import { adminOf, makeWebhook, ROOT, startWebhookFixture, userCreated } from './webhook-fixture.ts';

const database = testDatabase();
let fixture: ServiceFixture;
let sink: WebhookSink;
beforeAll(async () => {
  sink = await webhookSink();
  // Long delays, so that a failed delivery is not retried while the test reads the log.
  const env = { WEBHOOK_RETRY_DELAYS: '1h,1h,1h,1h,1h' };
  fixture = await startWebhookFixture({ databaseUrl: database.url, env });
});
afterAll(async () => {
  await fixture?.stop();
  await sink?.close();
});

const DELIVERIES = `${ROOT}/deliveries`;

describe('the delivery log', () => {
  it('webhooks 17 lists the newest fifty, each filter alone, and by cursor all of them once', async () => {
    const admin = adminOf(fixture, 'listing');
    const one = await makeWebhook(admin, `${sink.url}/listing`);
    const two = await makeWebhook(admin, `${sink.url}/failing`, ['user.deleted']);
    sink.answerWith(({ path }) => ({
      status: path === '/failing' ? 500 : 200,
      body: 'Hello\u0007!',
    }));
    for (let at = 0; at < 60; at++) await fixture.publish(userCreated('listing'));
    await admin.post(`${ROOT}/${two.id}/test`);
    const all = await untilTrue(async () => {
      const { body } = await admin.get(DELIVERIES, { query: { limit: 1_000 } });
      return body.deliveries.length === 61 && body.deliveries;
    });
    const plain = await admin.get(DELIVERIES);
    expect(Object.keys(plain.body)).toEqual(['deliveries']);
    expect(plain.body.deliveries).toEqual(all.slice(0, 50));
    expect(Object.keys(all[0]).sort()).toEqual([
      'attempted_at',
      'duration_ms',
      'event',
      'id',
      'status_code',
      'success',
      'webhook_id',
    ]);
    const times = all.map(({ attempted_at }: { attempted_at: string }) => attempted_at);
    expect(times).toEqual(times.toSorted().toReversed());

    const count = async (query: { readonly [name: string]: string | boolean }) =>
      (await admin.get(DELIVERIES, { query: { ...query, limit: 1_000 } })).body.deliveries.length;
    expect(await count({ webhook_id: one.id })).toBe(60);
    expect(await count({ webhook_id: 'nonsense' })).toBe(0);
    expect(await count({ event: 'webhook.test' })).toBe(1);
    expect(await count({ success: false })).toBe(1);
    expect(await count({ from: times[0] })).toBeGreaterThanOrEqual(1);
    expect(await count({ to: times[60] })).toBeGreaterThanOrEqual(1);
    expect(await count({ from: times[60], to: times[0] })).toBe(61);
    const ever = { from: '0000-01-01T00:00:00Z', to: '9999-12-31T23:59:59-23:00' };
    expect(await count(ever)).toBe(61);

    const paged: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: Record<string, string> = { cursor, limit: '7' };
      const page: { body: { deliveries: { id: string }[]; next_cursor: string | null } } =
        await admin.get(DELIVERIES, { query });
      paged.push(...page.body.deliveries.map(({ id }) => id));
      cursor = page.body.next_cursor;
      // Rows that arrive now are newer than the first page.
      if (paged.length === 14) await fixture.publish(userCreated('listing'));
    }
    expect(paged).toEqual(all.map(({ id }: { id: string }) => id));
    const [detailed] = (
      await admin.get(DELIVERIES, { query: { detail: true, webhook_id: two.id } })
    ).body.deliveries;
    expect(detailed).toMatchObject({
      attempt: 1,
      origin: 'test',
      error: null,
      final: false,
      response_excerpt: 'Hello!',
    });
  });

  it.each([
    ['limit', '0'],
    ['limit', '1001'],
    ['cursor', 'nonsense'],
    ['from', 'yesterday'],
    ['to', '2030-02-31T00:00:00Z'],
    ['success', 'maybe'],
  ])('webhooks 17 refuses %s = %s', async (field, value) => {
    const { status, body } = await adminOf(fixture, 'asking').get(DELIVERIES, {
      query: { [field]: value },
    });
    expect([status, body.error.details[0].field]).toEqual([400, field]);
  });

  it('webhooks 21 is rebuilt from its events as it stood, and nothing is sent by that', async () => {
    const admin = adminOf(fixture, 'rebuilding');
    const gone = await makeWebhook(admin, `${sink.url}/gone`);
    const kept = await makeWebhook(admin, `${sink.url}/failing`);
    for (const { id } of [gone, kept]) await admin.post(`${ROOT}/${id}/test`);
    await admin.delete(`${ROOT}/${gone.id}`);
    await admin.patch(`${ROOT}/${kept.id}`, { description: 'kept', url: `${sink.url}/failing?2` });
    const { store, sealer, positions } = fixture.host.needsOf('webhooks');
    const tables = [webhooksTable, deliveriesTable(() => {}), healthTable(() => {})];
    const names = tables.map(({ name }) => name);
    // A policy cancels the deleted webhook's deliveries after the deletion.
    await untilTrue(async () => {
      const { rowCount } = await fixture.shared.database.system.query(
        'SELECT 1 FROM webhooks.queue WHERE webhook_id = $1',
        [gone.id],
      );
      return rowCount === 0;
    });
    expect(await positions.reached(names, await store.head('webhooks'), 60_000)).toBe(true);
    const before = await dump(fixture);
    const sent = sink.received.length;
    for (const projection of tables) {
      await rebuildProjection({
        connectionString: database.url,
        projection,
        schema: 'webhooks',
        store,
        open: sealer.open,
        log: silentLogger,
      });
    }
    expect(await dump(fixture)).toEqual(before);
    await admin.post(`${ROOT}/${kept.id}/test`);
    expect(sink.received).toHaveLength(sent + 1);
  });
});

/** All rows without their working state. */
async function dump(of: ServiceFixture) {
  const { system } = of.shared.database;
  const tables = ['webhooks', 'deliveries', 'queue', 'attempts', 'health'];
  return await Promise.all(
    tables.map(async (table) => {
      const { rows } = await system.query<{ row: string }>(
        `SELECT (to_jsonb(t) - 'ready' - 'lease_owner' - 'lease_until')::text AS row
         FROM webhooks.${table} t ORDER BY 1`,
      );
      return rows.map(({ row }) => row);
    }),
  );
}
