/** After identity has deleted a tenant, its requests, the copies of its users and every key are deleted too. */
import { rebuildProjection } from '@cardea/read-models';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, wanted } from './approval-fixture.ts';

const database = testDatabase();
let fixture: ApprovalFixture;
beforeAll(async () => {
  fixture = await approvalFixture(database.url);
});
afterAll(async () => {
  await fixture?.stop();
});

const REQUESTS = '/api/v1/ciba/requests';
const TABLES = ['requests', 'notification_jobs', 'users', 'agents', 'tenants'];
async function leftOf(tenantId: string): Promise<readonly string[]> {
  const { system } = fixture.shared.database;
  const counts = TABLES.map(async (table) => {
    const sql = `SELECT FROM approval.${table} WHERE tenant_id = $1`;
    return (await system.query(sql, [tenantId])).rowCount > 0 ? [table] : [];
  });
  const keys = await system.query<{ subject_id: string }>(
    `SELECT subject_id FROM approval.subject_keys
     WHERE tenant_id = $1 AND wrapped IS NOT NULL AND subject_id NOT LIKE 'context:%'`,
    [tenantId],
  );
  return [...(await Promise.all(counts)).flat(), ...keys.rows.map((row) => row.subject_id)];
}

it('identity 15 a tenant that was deleted leaves no request, no copy of a person and no key, rebuilt too', async () => {
  const [gone, stays] = [await fixture.people('gone'), await fixture.people('stays')];
  for (const { bot } of [gone, stays]) {
    const asked = await bot.post(REQUESTS, wanted({ reason: 'for ann alone' }));
    expect(asked.status).toBe(201);
  }
  const before = await leftOf('stays');
  expect(await leftOf('gone')).toEqual(expect.arrayContaining(['requests', 'users', 'agents']));
  await fixture.publish({
    ...{ source: 'identity', type: 'tenant.deleted', tenantId: 'gone', streamId: 'tenant-gone' },
    data: { id: 'gone', deleted_at: new Date().toISOString() },
  });
  await untilTrue(async () => (await leftOf('gone')).length === 0, { what: 'all of it is gone' });
  const ended = (await fixture.eventsOf('gone')).map(({ type }) => type);
  expect(ended).toEqual(expect.arrayContaining(['ApprovalExpired', 'TenantForgotten']));
  const { store, sealer, log } = fixture.host.needsOf('approval');
  for (const { projection } of fixture.host.projections) {
    const of = { projection, schema: 'approval', store, open: sealer.open, log };
    await rebuildProjection({ connectionString: database.url, ...of });
  }
  expect(await leftOf('gone')).toEqual([]);
  expect((await leftOf('stays')).filter((name) => !name.startsWith('notification'))).toEqual(
    before.filter((name) => !name.startsWith('notification')),
  );
});
