import { processFixture, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { instance } from './instance.ts';

const fixture = processFixture();
const database = testDatabase();
const SERVICE = '/api/v1/vault/services/db';

it('vault 20 a version whose destruction was killed before its value was erased is erased after the start', async () => {
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    CARDEA_FAILPOINT: 'destroy.before_erase=kill',
  };
  const cardea = await instance(fixture, env);
  const doomed = await cardea.start();
  const admin = cardea.rest.as(await cardea.admin());
  const service = { name: 'db', credential_type: 'static', fields: [{ name: 'user' }] };
  expect((await admin.post('/api/v1/vault/services', service)).status).toBe(201);
  for (const user of ['ann', 'bob']) {
    expect((await admin.put(`${SERVICE}/secrets`, { fields: { user } })).status).toBe(200);
  }
  await expect(admin.delete(`${SERVICE}/secrets/user/versions/1`)).rejects.toThrow();
  await doomed.ended;
  delete env['CARDEA_FAILPOINT'];
  const next = await cardea.start();
  const again = cardea.rest.as(await cardea.admin());
  const { body } = await again.get(`${SERVICE}/secrets/user/versions`);
  expect(body.versions.map(({ version }: { version: number }) => version)).toEqual([2]);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const left = async () =>
    (await client.query('SELECT version FROM vault.secret_versions WHERE blob IS NOT NULL')).rows;
  await untilTrue(async () => (await left()).length === 1, { what: 'the value to be erased' });
  expect(await left()).toEqual([{ version: 2 }]);
  await client.end();
  expect(await next.end('SIGTERM')).toBe(0);
});
