/** An owner sets how long the audit log is kept, and the audit projector applies it. */
import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { instance } from '../faults/instance.ts';

const PATH = '/api/v1/admin/organization';
const PASSWORD = 'a password that nobody guesses';

const database = testDatabase();
const fixture = processFixture();

async function retentionOf(tenant: string): Promise<number | undefined> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ days: number }>(
      'SELECT days FROM audit.retention WHERE tenant_id = $1',
      [tenant],
    );
    return rows[0]?.days;
  } finally {
    await client.end();
  }
}

it('audit 13 an owner sets how long the audit log of the organization is kept', async () => {
  const cardea = await instance(fixture, { DATABASE_URL: database.url });
  await cardea.start();
  const caller = await cardea.admin();
  const owner = cardea.rest.as(caller);

  const before = await owner.get(PATH);
  expect(before.body).toEqual({
    id: expect.any(String),
    name: 'system',
    settings: { audit_retention_days: 90 },
    created_at: expect.any(String),
  });
  await untilTrue(async () => (await retentionOf(caller.tenant)) === 90);
  for (const [wanted, kept] of [
    [30, 30],
    [3, 7],
    [1_000, 365],
  ] as const) {
    const settings = { audit_retention_days: wanted };
    const changed = await owner.patch(PATH, { settings });
    expect([changed.status, changed.body.settings]).toEqual([200, { audit_retention_days: kept }]);
    expect((await owner.get(PATH)).body).toEqual(changed.body);
    await untilTrue(async () => (await retentionOf(caller.tenant)) === kept);
  }
  expect((await owner.patch(PATH, { name: ' Renamed ' })).body.name).toBe('Renamed');

  const query = { type: 'admin.organization.update' };
  const { events } = (await owner.get('/api/v1/audit/events', { query })).body;
  const days = { changed: ['audit_retention_days'] };
  expect(events.map(({ details }: { details: object }) => details)).toEqual([
    { changed: ['name'] },
    days,
    days,
    days,
  ]);

  for (const body of [
    {},
    { settings: { other: 1 } },
    { settings: { audit_retention_days: 1.5 } },
    { name: '' },
  ]) {
    expect((await owner.patch(PATH, body)).code).toBe('invalid_request');
  }
  const headers = { 'x-service-app-id': 'x'.repeat(129) };
  expect((await owner.get(PATH, { headers })).code).toBe('invalid_request');

  const { tenant } = caller;
  for (const roles of [['admin'], ['member']]) {
    const email = `${roles[0]}@example.com`;
    const made = await owner.post('/api/v1/admin/users', { email, password: PASSWORD, roles });
    expect(made.status).toBe(201);
    const { body } = await cardea.rest.post(
      '/api/v1/auth/login',
      { email, password: PASSWORD },
      { tenant },
    );
    const rest = cardea.rest.as({ tenant, bearer: body.access_token });
    expect((await rest.get(PATH)).code).toBe('forbidden');
    expect((await rest.patch(PATH, { name: 'Mine' })).code).toBe('forbidden');
  }
});
