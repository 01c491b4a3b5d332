/** Tests an owner of the database who is no superuser, as in hosted PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { APP_ROLE, makeDatabaseLogins, rolesOf } from '@cardea/read-models';
import { secret } from '@cardea/runtime';
import { testDatabase } from '@cardea/testing';
import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { migrateTemplate } from '../migrate-template.ts';
import { appendNote, loggedInStores } from './logged-in-stores.ts';

const CHECK_VIOLATION = '23514';

const database = testDatabase();
const stores = loggedInStores();
const run = randomUUID().slice(0, 8);

async function asOwner(text: string): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

describe('S25 an owner who is no superuser', () => {
  const name = `owner_${run}`;
  const ownerUrl = (): string => {
    const url = Object.assign(new URL(database.url), { username: name, password: run });
    return Object.assign(url, { pathname: `/${name}` }).href;
  };
  afterAll(async () => {
    await stores.close();
    await asOwner(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await asOwner(`DROP ROLE IF EXISTS ${name}`);
  });

  it('migrates and makes the logins, two runs at once too', { timeout: 60_000 }, async () => {
    // Another deployment on the server has created the roles. Its owner allows this one to grant them.
    const roles = [undefined, ...SERVICE_NAMES].flatMap((service) =>
      Object.values(rolesOf(service)),
    );
    await asOwner(`CREATE ROLE ${name} LOGIN CREATEROLE PASSWORD '${run}'`);
    await asOwner(`GRANT ${[...roles, 'audit_reaper'].join(', ')} TO ${name} WITH ADMIN OPTION`);
    await asOwner(`CREATE DATABASE ${name} OWNER ${name}`);
    await migrateTemplate(ownerUrl());
    const own = SERVICE_NAMES.map((service) => ({
      service,
      name: `cardea_${service}_${run}`,
      password: secret(randomUUID()),
    }));
    await Promise.all([1, 2].map(() => makeDatabaseLogins(ownerUrl(), own)));
    const vault = own.find(({ service }) => service === 'vault');
    const url = Object.assign(new URL(ownerUrl()), {
      username: vault?.name,
      password: vault?.password.reveal(),
    }).href;
    const store = (log: ServiceName) => stores.as(url, rolesOf('vault').app, log);
    expect(await appendNote(store('vault'), 'note', 0)).toMatchObject([{ appended: true }]);
    await expect(appendNote(store('identity'), 'note', 0)).rejects.toMatchObject({
      code: CHECK_VIOLATION,
    });
    const all = stores.as(ownerUrl(), APP_ROLE, 'identity');
    expect(await appendNote(all, 'note', 0)).toMatchObject([{ appended: true }]);
    for (const { name: login } of own) await asOwner(`DROP ROLE ${login}`);
  });
});
