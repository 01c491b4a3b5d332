/** A user's profile fields, and the metadata that administrators store. */
import { decodeJwt } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Account, IdentityFixture } from './identity-fixture.ts';
import { application, authorized, oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const PROFILE = '/api/v1/user/profile';
const CANARY = 'canary-7b1f';
let bob: Account;
beforeEach(async () => {
  bob = await fixture.register(admin.tenantId);
});

const pathOf = ({ userId }: Pick<Account, 'userId'>) => `/api/v1/admin/users/${userId}`;
const byAdmin = (change: object) => fixture.as(admin).patch(pathOf(bob), change);
const allEvents = async () =>
  JSON.stringify(await fixture.eventsSince(0n), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );

describe('a profile', () => {
  it('standards 8 has a language and a username, which the owner and administrators set', async () => {
    const own = await fixture.as(bob).patch(PROFILE, {
      ...{ locale: 'de-at', preferred_username: ' Bob the Builder ' },
    });
    const set = { locale: 'de-AT', preferred_username: 'Bob the Builder' };
    expect(own).toMatchObject({ status: 200, body: set });
    expect((await fixture.as(admin).get(pathOf(bob))).body).toMatchObject(set);
    const { body } = await fixture.as(admin).get(`/api/v1/admin/users?email=${bob.email}`);
    expect(body.users).toEqual([expect.objectContaining(set)]);
    expect((await byAdmin({ locale: null, preferred_username: 'bob' })).body).toMatchObject({
      ...{ locale: null, preferred_username: 'bob' },
    });
    expect((await fixture.as(bob).get(PROFILE)).body).toMatchObject({ locale: null });
  });

  it.each([
    { locale: 'german language' },
    { locale: 'x'.repeat(36) },
    { preferred_username: 'x'.repeat(65) },
    { preferred_username: 'bob\u202e' },
  ])('standards 8 refuses %o', async (change) => {
    const answers = [await fixture.as(bob).patch(PROFILE, change), await byAdmin(change)];
    const field = Object.keys(change)[0];
    for (const answer of answers) {
      expect(`${answer.status} ${answer.code}`).toBe('400 invalid_request');
      expect(answer.body.error.details).toEqual([expect.objectContaining({ field })]);
    }
  });

  it('standards 8 is seen by applications with the scope profile alone', async () => {
    const said = { locale: 'pt-BR', preferred_username: 'bobby' };
    await fixture.as(bob).patch(PROFILE, said);
    for (const scope of ['openid profile', 'openid email']) {
      const client = await application(fixture, admin);
      const done = await authorized(fixture, { client, account: bob, more: { scope } });
      const info = await fixture.rest.get('/oauth2/userinfo', { bearer: done.access_token });
      const claims = decodeJwt(done.id_token);
      if (scope.includes('profile')) {
        expect(info.body).toMatchObject(said);
        expect(claims).toMatchObject(said);
      } else {
        expect(JSON.stringify([info.body, claims])).not.toMatch(/pt-BR|bobby/);
      }
    }
    const { body } = await fixture.rest.get('/.well-known/openid-configuration');
    expect(body.claims_supported).toEqual(expect.arrayContaining(Object.keys(said)));
  });

  it('standards 8 decides the language of mail, whatever the request prefers', async () => {
    await fixture.as(bob).patch(PROFILE, { locale: 'de-AT' });
    const ask = () =>
      fixture.rest.post(
        '/api/v1/auth/forgot-password',
        { email: bob.email },
        { tenant: admin.tenantId, headers: { 'accept-language': 'en' } },
      );
    await ask();
    expect((await fixture.mail(bob.email, /Passwort/)).text).toContain('Diese E-Mail kommt von');
    // There are no texts in this language.
    await fixture.as(bob).patch(PROFILE, { locale: 'is' });
    await ask();
    expect((await fixture.mail(bob.email, /password/)).text).toContain('This mail comes from');
  });
});

describe('metadata of a user', () => {
  it('standards 8 is merged by administrators; the person sees the public one', async () => {
    await byAdmin({ public_metadata: { plan: 'gold', seats: { a: 1, b: 2 } } });
    const done = await byAdmin({
      public_metadata: { seats: { a: null } },
      private_metadata: { crm: CANARY },
    });
    const now = {
      public_metadata: { plan: 'gold', seats: { b: 2 } },
      private_metadata: { crm: CANARY },
    };
    expect(done.body).toMatchObject(now);
    expect((await fixture.as(admin).get(pathOf(bob))).body).toMatchObject(now);
    const own = (await fixture.as(bob).get(PROFILE)).body;
    expect(own.public_metadata).toEqual(now.public_metadata);
    expect(JSON.stringify(own)).not.toContain(CANARY);
    expect((await fixture.as(bob).patch(PROFILE, { public_metadata: {} })).status).toBe(400);
    expect((await byAdmin({ public_metadata: null })).body).toMatchObject({
      ...{ public_metadata: {}, private_metadata: { crm: CANARY } },
    });
  });

  it.each([
    [{ public_metadata: { a: 'x'.repeat(4_096) } }, 'too_large'],
    [{ private_metadata: { a: { b: { c: { d: { e: {} } } } } } }, 'too_deep'],
  ])('standards 8 has bounds: %o', async (change, rule) => {
    const [field] = Object.keys(change);
    const answer = await byAdmin(change);
    expect(`${answer.status} ${answer.code}`).toBe('400 invalid_request');
    expect(answer.body.error.details).toEqual([{ field, rule }]);
  });

  it('standards 8 is bounded as a whole, not by each change', async () => {
    const half = { public_metadata: { a: 'x'.repeat(3_000) } };
    expect((await byAdmin(half)).status).toBe(200);
    const answer = await byAdmin({ public_metadata: { b: 'x'.repeat(3_000) } });
    expect(answer.body.error.details).toEqual([{ field: 'public_metadata', rule: 'too_large' }]);
  });

  it('standards 8 keeps each of several changes that are made at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const answers = await Promise.all(
      names.map((name) => byAdmin({ public_metadata: { [name]: name } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect((await fixture.as(admin).get(pathOf(bob))).body.public_metadata).toEqual(
      Object.fromEntries(names.map((name) => [name, name])),
    );
  });

  it('standards 8 is in no event, log or table in clear, and goes with the person', async () => {
    const kept = { public_metadata: { note: CANARY }, private_metadata: { note: CANARY } };
    expect((await byAdmin({ ...kept, preferred_username: 'canary person' })).status).toBe(200);
    expect(await allEvents()).not.toMatch(/canary/);
    expect(fixture.lines.join('')).not.toMatch(/canary/);
    expect(await rowsOf(fixture, bob.userId)).not.toContain(CANARY);
    expect((await fixture.as(admin).delete(pathOf(bob))).status).toBe(200);
    expect((await fixture.as(admin).get(pathOf(bob))).code).toBe('not_found');
    expect(await rowsOf(fixture, bob.userId)).not.toMatch(/canary/);
  });

  it('standards 8 of somebody above a key stays as it is', async () => {
    const { body: made } = await fixture.as(admin).post('/api/v1/api-keys', {
      ...{ name: 'people', scopes: ['users:write'] },
    });
    const change = (who: Account) =>
      fixture.rest.patch(
        pathOf(who),
        { private_metadata: { by: 'key' } },
        { bearer: made.key, tenant: admin.tenantId },
      );
    expect((await change(bob)).status).toBe(200);
    expect(`${(await change(admin)).code}`).toBe('forbidden');
  });
});

describe('an import', () => {
  it('standards 9 brings profile and metadata along, encrypted', async () => {
    const email = `moved.${bob.email}`;
    const profile = { locale: 'de-AT', preferred_username: 'Canary of old' };
    const metadata = { public_metadata: { note: CANARY }, private_metadata: { crm: [CANARY] } };
    const { body: done } = await fixture.as(admin).post('/api/v1/admin/users/import', {
      users: [{ email, display_name: 'Moved', ...profile, ...metadata }],
    });
    expect(done).toEqual({ imported: 1, failed: [] });
    const { body: list } = await fixture.as(admin).get(`/api/v1/admin/users?email=${email}`);
    expect(list.users).toEqual([expect.objectContaining(profile)]);
    const { body: user } = await fixture.as(admin).get(pathOf({ userId: list.users[0].id }));
    expect(user).toMatchObject({ display_name: 'Moved', ...profile, ...metadata });
    expect(await allEvents()).not.toMatch(/canary/i);
  });
});

async function rowsOf({ host }: IdentityFixture, userId: string): Promise<string> {
  const { database } = host.needsOf('identity');
  return await database.asSystem(async (sql) => {
    const { rows } = await sql.query<{ row: string }>(
      'SELECT t::text AS row FROM identity.users t WHERE id = $1',
      [userId],
    );
    return rows.map(({ row }) => row).join();
  });
}
