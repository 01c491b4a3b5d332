/** After identity has deleted a tenant, its webhooks, their deliveries and every key are deleted too. */
import { rebuildProjection } from '@cardea/read-models';
import {
  type ServiceFixture,
  testDatabase,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminOf, makeWebhook, startWebhookFixture, userCreated } from './webhook-fixture.ts';

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

const TABLES = ['webhooks', 'deliveries', 'attempts', 'queue', 'health'];
async function rowsOf(tenantId: string): Promise<readonly string[]> {
  const counts = TABLES.map(async (table) => {
    const { rowCount } = await fixture.shared.database.system.query(
      `SELECT FROM webhooks.${table} WHERE tenant_id = $1`,
      [tenantId],
    );
    return rowCount > 0 ? [table] : [];
  });
  return (await Promise.all(counts)).flat();
}
async function keysOf(tenantId: string): Promise<readonly string[]> {
  const { rows } = await fixture.shared.database.system.query<{ subject_id: string }>(
    `SELECT subject_id FROM webhooks.subject_keys
     WHERE tenant_id = $1 AND wrapped IS NOT NULL AND subject_id NOT LIKE 'context:%'`,
    [tenantId],
  );
  return rows.map(({ subject_id }) => subject_id);
}
async function withDeliveries(tenantId: string): Promise<void> {
  await makeWebhook(adminOf(fixture, tenantId), `${sink.url}/${tenantId}`);
  await fixture.publish(userCreated(tenantId));
  await untilTrue(async () => (await rowsOf(tenantId)).includes('attempts'));
}

it('identity 15 a tenant that was deleted leaves no webhook, no delivery and no key, rebuilt too', async () => {
  await withDeliveries('gone');
  await withDeliveries('stays');
  const before = [await rowsOf('stays'), await keysOf('stays')];
  expect((await keysOf('gone')).some((subject) => subject.startsWith('webhook:'))).toBe(true);
  await fixture.publish({
    ...{ source: 'identity', type: 'tenant.deleted', tenantId: 'gone', streamId: 'tenant-gone' },
    data: { id: 'gone', deleted_at: new Date().toISOString() },
  });
  await untilTrue(async () => [...(await rowsOf('gone')), ...(await keysOf('gone'))].length === 0, {
    what: 'all of it is gone',
  });
  const { store, sealer, log } = fixture.host.needsOf('webhooks');
  for (const { projection } of fixture.host.projections) {
    const of = { projection, schema: 'webhooks', store, open: sealer.open, log };
    await rebuildProjection({ connectionString: database.url, ...of });
  }
  expect(await rowsOf('gone')).toEqual([]);
  expect([await rowsOf('stays'), await keysOf('stays')]).toEqual(before);
  await fixture.publish(userCreated('stays', { id: 'late' }));
  await sink.waitFor(({ body }) => body.includes('late@example.com'), 30_000);
});
