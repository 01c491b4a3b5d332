import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Account,
  claimsOf,
  type IdentityFixture,
  identityFixture,
  PASSWORD,
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

const emoji = (count: number) => '😀'.repeat(count);

describe('passwords', () => {
  it.each([
    { length: 7, code: 'password_too_short' },
    { length: 129, code: 'password_too_long' },
  ])('identity 1 of $length emoji are refused everywhere as $code', async ({ length, code }) => {
    const password = emoji(length);
    const tenant = admin.tenantId;
    const bob = await fixture.register(tenant);
    const answers = [
      await fixture.rest.post('/api/v1/auth/signup', {
        email: 'x@example.com',
        password,
        company_name: 'X',
      }),
      await fixture.rest.post(
        '/api/v1/auth/register',
        { email: 'x@example.com', password },
        { tenant },
      ),
      await fixture.as(bob).post('/api/v1/user/change-password', {
        current_password: 'wrong one',
        new_password: password,
      }),
      await fixture.rest.post('/api/v1/auth/reset-password', {
        token: 'nonsense',
        new_password: password,
      }),
      await fixture.as(admin).post('/api/v1/admin/users', { email: 'x@example.com', password }),
    ];
    expect(answers.map((answer) => `${answer.status} ${answer.code}`)).toEqual(
      Array(answers.length).fill(`400 ${code}`),
    );
  });

  it.each([8, 128])('identity 1 of %d emoji open the account', async (length) => {
    const email = `emoji${length}@example.com`;
    const body = { email, password: emoji(length) };
    const { tenantId } = admin;
    expect(
      (await fixture.rest.post('/api/v1/auth/register', body, { tenant: tenantId })).status,
    ).toBe(201);
    expect((await fixture.logIn({ email, tenantId }, emoji(length))).status).toBe(200);
    expect((await fixture.logIn({ email, tenantId }, emoji(length - 1))).code).toBe(
      'invalid_credentials',
    );
  });

  it('identity 7 when changed keep the session of the caller alone', async () => {
    const bob = await fixture.register(admin.tenantId);
    const other = (await fixture.logIn(bob)).body;
    const change = { current_password: PASSWORD, new_password: 'another good one' };
    const changed = await fixture.as(bob).post('/api/v1/user/change-password', change);
    expect(changed).toMatchObject({ status: 200, body: { status: 'password changed' } });
    expect((await fixture.refresh(other.refresh_token)).code).toBe('invalid_refresh_token');
    expect((await fixture.refresh(bob.refresh)).status).toBe(200);
    expect((await fixture.logIn(bob)).code).toBe('invalid_credentials');
    expect((await fixture.logIn(bob, 'another good one')).status).toBe(200);
  });

  it('stay as they are when the current one is wrong', async () => {
    const bob = await fixture.register(admin.tenantId);
    const change = { current_password: 'not the one', new_password: 'another good one' };
    const refused = await fixture.as(bob).post('/api/v1/user/change-password', change);
    expect(`${refused.status} ${refused.code}`).toBe('401 invalid_credentials');
    expect((await fixture.logIn(bob)).status).toBe(200);
  });

  it('identity 7 when reset end every session and prove the address', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { tenantId: tenant, email } = bob;
    const asked = await fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
    expect(asked.status).toBe(200);
    const { token, link } = await fixture.mail(email, /password/);
    expect(link).toBe(`http://cardea.test/api/v1/auth/reset-password#token=${token}`);
    const reset = () =>
      fixture.rest.post('/api/v1/auth/reset-password', { token, new_password: 'brand new one' });
    expect((await reset()).status).toBe(200);
    expect(await reset()).toMatchObject({ status: 401, code: 'invalid_reset_token' });
    expect((await fixture.refresh(bob.refresh)).code).toBe('invalid_refresh_token');
    expect((await fixture.logIn(bob, 'brand new one')).body.email_verified).toBe(true);
  });

  it('are reset by the newest mail alone, in its hour', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { tenantId: tenant, email } = bob;
    const ask = () => fixture.rest.post('/api/v1/auth/forgot-password', { email }, { tenant });
    const reset = (token: string) =>
      fixture.rest.post('/api/v1/auth/reset-password', { token, new_password: 'brand new one' });
    await ask();
    const { token: first } = await fixture.mail(email, /password/);
    await fixture.rest.delete('/dev/mailbox');
    await ask();
    const { token: second } = await fixture.mail(email, /password/);
    expect((await reset(first)).code).toBe('invalid_reset_token');
    fixture.clock.move(60 * 60_000);
    expect(await reset(second)).toMatchObject({ status: 410, code: 'reset_token_expired' });
  });
});

describe('an account that is closed', () => {
  // The clock was advanced, so the first token has expired.
  beforeAll(async () => {
    admin = await fixture.signUp();
  });

  it('identity 7 ends all sessions and its tokens at once', async () => {
    const bob = await fixture.register(admin.tenantId);
    const path = `/api/v1/admin/users/${bob.userId}`;
    expect((await fixture.as(admin).patch(path, { status: 'disabled' })).body.status).toBe(
      'disabled',
    );
    expect((await fixture.as(bob).get('/api/v1/user/profile')).code).toBe('unauthenticated');
    expect((await fixture.refresh(bob.refresh)).code).toBe('invalid_refresh_token');
    expect((await fixture.logIn(bob)).code).toBe('invalid_credentials');
    await fixture.as(admin).patch(path, { status: 'active' });
    expect((await fixture.refresh(bob.refresh)).code).toBe('invalid_refresh_token');
    expect((await fixture.logIn(bob)).status).toBe(200);
  });

  it('identity 15 leaves nothing of the person behind when it is deleted', async () => {
    const email = 'vanishing.person@example.com';
    const body = { email, password: PASSWORD, display_name: 'Vanishing Person' };
    const { tenantId: tenant } = admin;
    const agent = { 'user-agent': 'VanishingBrowser/1.0' };
    const registered = await fixture.rest.post('/api/v1/auth/register', body, {
      tenant,
      headers: agent,
    });
    await fixture.logIn({ tenantId: tenant, email });
    const path = `/api/v1/admin/users/${registered.body.user_id}`;
    const deleted = await fixture.as(admin).delete(path);
    expect(deleted).toMatchObject({ status: 200, body: { status: 'user deleted' } });
    expect((await fixture.as(admin).get(path)).code).toBe('not_found');
    expect(
      (await fixture.rest.post('/api/v1/auth/register', body, { tenant })).body.access_token,
    ).toBeDefined();
    expect(claimsOf(registered.body.access_token).email).toBe(email);
    const tables = await dump(
      ['users', 'sessions', 'mail_queue', 'revocations'],
      registered.body.user_id,
    );
    expect(tables).not.toMatch(/Vanishing Person|VanishingBrowser/);
    const events = JSON.stringify(await fixture.eventsSince(0n), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(events).not.toMatch(/vanishing|Vanishing/);
    expect(fixture.lines.join('')).not.toMatch(/vanishing|Vanishing/);
  });

  it('keeps the last administrator', async () => {
    const lone = await fixture.signUp();
    const path = `/api/v1/admin/users/${lone.userId}`;
    expect((await fixture.as(lone).delete(path)).code).toBe('last_admin');
    expect((await fixture.as(lone).patch(path, { status: 'disabled' })).code).toBe('last_admin');
    expect((await fixture.as(lone).patch(path, { roles: ['member'] })).code).toBe('last_admin');
  });
});

/** The rows of a user in the tables, as text. */
async function dump(tables: readonly string[], userId: string): Promise<string> {
  const { database: pool } = fixture.host.needsOf('identity');
  const texts: string[] = [];
  await pool.asSystem(async (sql) => {
    for (const table of tables) {
      const { rows } = await sql.query<{ row: string }>(
        `SELECT t::text AS row FROM identity.${table} t WHERE t::text LIKE $1`,
        [`%${userId}%`],
      );
      texts.push(...rows.map(({ row }) => row));
    }
  });
  return texts.join('\n');
}
