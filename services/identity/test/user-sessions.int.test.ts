/** Administrators see where a user is signed in, and end one of the sessions. */
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Account,
  claimsOf,
  type IdentityFixture,
  identityFixture,
} from './identity-fixture.ts';

const database = testDatabase();
let fixture: IdentityFixture;
let admin: Account;
beforeAll(async () => {
  fixture = await identityFixture(database.url);
  admin = await fixture.signUp();
});
afterAll(async () => {
  await fixture?.stop();
});

const pathOf = ({ userId }: Pick<Account, 'userId'>, more = '') =>
  `/api/v1/admin/users/${userId}/sessions${more}`;
const ids = (body: { sessions: readonly { id: string }[] }) => body.sessions.map(({ id }) => id);

describe('the sessions of a user', () => {
  it('standards 4 are listed in pages and end one by one, by an administrator', async () => {
    const bob = await fixture.register(admin.tenantId);
    const other = (await fixture.logIn(bob)).body;
    const sid = String(claimsOf(other.access_token)['sid']);
    const rest = fixture.as(admin);
    const all = (await rest.get(pathOf(bob))).body;
    expect(all).toMatchObject({ total: 2, offset: 0 });
    expect(ids(all)).toContain(sid);
    expect(all.sessions[0]).toMatchObject({ current: false, ip_address: expect.any(String) });
    const page = (await rest.get(pathOf(bob, '?limit=1&offset=1'))).body;
    expect(page).toMatchObject({ total: 2, offset: 1, limit: 1 });
    expect(ids(page)).toEqual(ids(all).slice(1));
    const end = () => rest.delete(pathOf(bob, `/${sid}`));
    expect((await end()).body).toEqual({ status: 'revoked' });
    expect((await end()).status).toBe(200);
    expect((await fixture.refresh(other.refresh_token)).code).toBe('invalid_refresh_token');
    expect((await fixture.refresh(bob.refresh)).status).toBe(200);
    expect((await rest.get(pathOf(bob))).body.total).toBe(1);
    const [revoked] = (await fixture.eventsSince(0n)).filter(
      ({ type }) => type === 'SessionRevoked',
    );
    expect(revoked).toMatchObject({ data: { id: sid, reason: 'admin' } });
  });

  it('standards 4 of somebody of a higher rank, of another user or tenant stay', async () => {
    const [bob, carl] = [
      await fixture.register(admin.tenantId),
      await fixture.register(admin.tenantId),
    ];
    const stranger = await fixture.signUp();
    const { body: key } = await fixture.as(admin).post('/api/v1/api-keys', {
      ...{ name: 'people', scopes: ['users:read', 'users:write'] },
    });
    const sidOf = ({ access }: Account) => String(claimsOf(access)['sid']);
    const byKey = { bearer: key.key, tenant: admin.tenantId };
    const above = await fixture.rest.delete(pathOf(admin, `/${sidOf(admin)}`), byKey);
    expect(above.code).toBe('forbidden');
    const rest = fixture.as(admin);
    expect((await rest.delete(pathOf(bob, `/${sidOf(carl)}`))).code).toBe('not_found');
    expect((await rest.delete(pathOf(bob, '/nonsense'))).code).toBe('not_found');
    const foreign = pathOf(stranger, `/${sidOf(stranger)}`);
    expect((await rest.delete(foreign)).code).toBe('not_found');
    expect((await rest.get(pathOf(stranger))).code).toBe('not_found');
    expect((await fixture.as(bob).get(pathOf(bob))).status).toBe(403);
    expect((await fixture.rest.delete(pathOf(carl, `/${sidOf(carl)}`), byKey)).status).toBe(200);
    for (const { refresh } of [admin, bob, stranger]) {
      expect((await fixture.refresh(refresh)).status).toBe(200);
    }
  });
});
