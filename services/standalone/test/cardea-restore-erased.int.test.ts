import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RestDriver, testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardeaFixture, exampleOf, running } from './cardea-fixture.ts';
import { emptyDatabases } from './empty-databases.ts';

const START_MS_MAX = 240_000;
const SERVICE = '/api/v1/vault/services/db';
const owner = { email: 'owner@example.com', password: 'a password for the tests' };

const database = testDatabase();
const empty = emptyDatabases(() => database.url);
const { run, folder, remove } = cardeaFixture(() => database.url);
const backups = mkdtempSync(join(tmpdir(), 'cardea-erased-'));
const [before, after] = [join(backups, 'before'), join(backups, 'after')];
let tenant = '';

const save = async (out: string) => {
  const ran = await run(`${exampleOf('backup', { out })} --data ${folder} --json`);
  expect(ran).toMatchObject({ code: 0, err: '' });
};
const restoreTo = (url: string, more = '') =>
  run(`${exampleOf('restore', { in: before })} ${more} --data ${folder} --json`, {
    DATABASE_URL: url,
  });
const write = async (admin: RestDriver, user: string) =>
  expect((await admin.put(`${SERVICE}/secrets`, { fields: { user } })).status).toBe(200);

/** Version 1 is destroyed between the two backups. */
beforeAll(async () => {
  const fixture = await running(database.url);
  const { body } = await fixture.rest.post('/api/v1/auth/signup', { company_name: 'A', ...owner });
  tenant = body.tenant_id;
  const admin = fixture.rest.as({ bearer: body.access_token, tenant });
  const service = { name: 'db', credential_type: 'static', fields: [{ name: 'user' }] };
  expect((await admin.post('/api/v1/vault/services', service)).status).toBe(201);
  await write(admin, 'ann');
  await write(admin, 'bob');
  await save(before);
  expect((await admin.delete(`${SERVICE}/secrets/user/versions/1`)).status).toBe(200);
  await save(after);
  await fixture.stop();
}, START_MS_MAX);
afterAll(async () => {
  await empty.drop();
  remove();
  rmSync(backups, { recursive: true, force: true });
});

async function versionsWithValue(url: string): Promise<readonly number[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ version: number }>(
    'SELECT version FROM vault.secret_versions WHERE blob IS NOT NULL ORDER BY 1',
  );
  await client.end();
  return rows.map(({ version }) => version);
}

describe('O11 a version that was destroyed after the backup', () => {
  it('stays destroyed where the restore is shown a later backup', {
    timeout: START_MS_MAX,
  }, async () => {
    const url = await empty.make();
    expect(await restoreTo(url, `--erased ${after}`)).toMatchObject({ code: 0, err: '' });
    expect(await versionsWithValue(url)).toEqual([2]);
    const fixture = await running(url);
    try {
      const { body } = await fixture.rest.post('/api/v1/auth/login', owner, { tenant });
      const admin = fixture.rest.as({ bearer: body.access_token, tenant });
      const listed = await admin.get(`${SERVICE}/secrets/user/versions`);
      expect(listed.body.versions).toMatchObject([{ version: 2, stage: 'current' }]);
      const promoted = await admin.post(`${SERVICE}/promote`, { versions: { user: 1 } });
      expect(promoted.code).toBe('version_destroyed');
    } finally {
      await fixture.stop();
    }
  });

  it('is back where it is shown none, and an earlier backup is refused', {
    timeout: START_MS_MAX,
  }, async () => {
    const url = await empty.make();
    const refused = await restoreTo(url, `--erased ${before}`);
    expect(refused.code).toBe(1);
    expect(refused.out).toContain('erased_not_later');
    expect((await restoreTo(url)).code).toBe(0);
    expect(await versionsWithValue(url)).toEqual([1, 2]);
  });
});
