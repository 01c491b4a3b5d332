/** Administrators find users by text inside addresses and names. */
import type { Database } from '@cardea/read-models';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AdminUser, listUsers } from '../src/accounts/users/administer/admin-users.ts';
import type { Account } from './identity-fixture.ts';
import { oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const OTHERS = 100_000;
const AT_ONCE = 10_000;
const FILL_WAIT_MS = 180_000;
const USERS = '/api/v1/admin/users';
const search = (text: string, more = '') =>
  fixture.as(admin).get(`${USERS}?search=${encodeURIComponent(text)}${more}`);
const database = () => fixture.host.needsOf('identity').database;

/** Inserts users into the table only, because only the table is tested. */
const fill = (tenantId: string, first: number) =>
  database().system.query(
    `INSERT INTO identity.users (id, tenant_id, email, email_verified, address_from, display_name, roles, vouched,
       status, has_password, mfa_enabled, identities, epoch, created_at, updated_at)
     SELECT $1 || '-' || n, $1, left(md5('a' || n), 9) || '@ex.org', true, 'proof', left(md5('b' || n), 9), '{member}', false,
       'active', true, false, '{}', 0, now() - n * interval '1 second', now()
     FROM generate_series($2::integer, $2 + ${AT_ONCE - 1}) AS n`,
    [tenantId, first],
  );

describe('a search', () => {
  let zoe: Account;
  beforeAll(async () => {
    zoe = await fixture.register(admin.tenantId);
    const change = { display_name: 'Zoë 50%_Müller-ΛΌΓΟΣ', preferred_username: 'Ёжик' };
    const done = await fixture.as(admin).patch(`${USERS}/${zoe.userId}`, change);
    expect(done.status).toBe(200);
    await fixture.register(admin.tenantId);
  });

  it.each(['oe 5', 'OË 5', 'mull', 'MÜLL', '0%_m', 'λόγος', 'ΛΟΓΟΣ', 'λογοσ', 'ежи', 'ЁЖИК'])(
    'standards 8 finds %s inside of a name, in any case and with or without accents',
    async (text) => {
      expect((await search(text)).body).toMatchObject({ total: 1, users: [{ id: zoe.userId }] });
    },
  );

  it('standards 8 finds a part of an address, and nobody of another tenant', async () => {
    const part = zoe.email.slice(2, -3).toUpperCase();
    expect((await search(part)).body).toMatchObject({ total: 1, users: [{ id: zoe.userId }] });
    const stranger = await fixture.signUp();
    const { body } = await fixture.as(stranger).get(`${USERS}?search=${encodeURIComponent(part)}`);
    expect(body).toMatchObject({ total: 0, users: [] });
  });

  it.each(['5%mü', '50__', '___', '%%%', "' OR", '\\\\\\'])(
    'standards 8 takes wildcards as text: %s',
    async (text) => {
      expect((await search(text)).body).toMatchObject({ total: 0, users: [] });
    },
  );

  it.each(['', 'ab', 'x'.repeat(101), 'e\u0301\u0301'])('standards 8 refuses %j', async (text) => {
    const answer = await search(text);
    expect(`${answer.status} ${answer.code}`).toBe('400 invalid_request');
    expect(answer.body.error.details).toEqual([expect.objectContaining({ field: 'search' })]);
  });

  it('standards 8 goes with other filters and in pages', async () => {
    const all = (await search('@example', '&limit=1000')).body;
    expect(all.total).toBe(all.users.length);
    const second = (await search('@example', '&offset=1&limit=1')).body;
    expect(second).toMatchObject({ total: all.total, users: [{ id: all.users[1].id }] });
    expect((await search('@example', '&role=owner')).body.total).toBe(1);
    expect((await search('@example', `&offset=${all.total}`)).body).toMatchObject({
      ...{ total: all.total, users: [] },
    });
  });

  it(
    'standards 8 reads an index, however many users there are',
    async () => {
      for (let at = 0; at < OTHERS; at += AT_ONCE) await fill(admin.tenantId, at);
      await fill('another', 0);
      const list = { tenantId: admin.tenantId, now: new Date(), offset: 0, limit: 50 };
      const plans: string[] = [];
      const explained: Database = {
        ...database(),
        system: {
          query: async (sql, values) => {
            const { rows } = await database().system.query<{ 'QUERY PLAN': string }>(
              `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ${sql}`,
              values,
            );
            plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
            return database().system.query(sql, values);
          },
        },
      };
      const found = async (text: string): Promise<readonly AdminUser[]> =>
        (await listUsers(explained, { ...list, search: text })).rows;
      expect((await found('müller')).map(({ id }) => id)).toEqual([zoe.userId]);
      expect(plans).toEqual([expect.stringContaining('Bitmap Index Scan on users_search')]);
      expect(plans.join('\n')).not.toContain('Seq Scan');
    },
    FILL_WAIT_MS,
  );
});
