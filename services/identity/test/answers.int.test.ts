/** Tests responses about accounts field by field: shapes, error codes, repeats, and caching. */
import { describe, expect, it } from 'vitest';
import { identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });

const USERS = '/api/v1/admin/users';
const keys = (body: object) => Object.keys(body).sort();
const TOKENS = ['access_token', 'expires_in', 'refresh_token', 'user_id'];

describe('the token responses', () => {
  it('identity 1 have the keys of their row in the contract and no others', async () => {
    const body = { email: 'keys@example.com', password: PASSWORD };
    const { tenantId: tenant } = admin;
    const registered = await fixture.rest.post('/api/v1/auth/register', body, { tenant });
    expect(keys(registered.body)).toEqual(TOKENS);
    const login = await fixture.logIn({ tenantId: tenant, email: body.email });
    expect(keys(login.body)).toEqual([...TOKENS, 'email_verified', 'mfa_required'].sort());
    const refreshed = await fixture.refresh(login.body.refresh_token);
    expect(keys(refreshed.body)).toEqual([...TOKENS, 'email_verified'].sort());
    const company = { ...body, email: 'founder@example.com', company_name: 'Keys' };
    const signedUp = await fixture.rest.post('/api/v1/auth/signup', company);
    expect(keys(signedUp.body)).toEqual([...TOKENS, 'email_verified', 'tenant_id'].sort());
  });
});

describe('the list of users', () => {
  it('finds an address however it is written, as the writer would store it', async () => {
    const email = 'ünder@xn--exmple-cua.com';
    const made = await fixture.as(admin).post(USERS, { email: ' ÜNDER@Exämple.com. ' });
    expect([made.status, made.body.email]).toEqual([201, email]);
    for (const written of [
      'ÜNDER@EXÄMPLE.COM',
      'U\u0308nder@exämple.com',
      ' ünder@exämple.com. ',
    ]) {
      for (const query of [{ email: written }, { q: written }]) {
        const { body } = await fixture.as(admin).get(USERS, { query });
        const found = body.users.map((user: { email: string }) => user.email);
        expect({ query, found }).toEqual({ query, found: [email] });
      }
    }
    const none = await fixture.as(admin).get(USERS, { query: { email: 'no address' } });
    expect([none.status, none.body.total]).toEqual([200, 0]);
  });
});

describe('a field that its rule refuses', () => {
  const BELL = 'bell \u0007';
  const account = { email: 'bad@example.com', password: PASSWORD };
  it.each([
    { path: '/api/v1/auth/register', body: account, field: 'display_name', value: BELL },
    {
      path: '/api/v1/auth/signup',
      body: { ...account, company_name: 'X' },
      field: 'display_name',
      value: BELL,
    },
    {
      path: '/api/v1/auth/signup',
      body: account,
      field: 'company_name',
      value: '  ',
      rule: 'pattern',
    },
    { path: USERS, body: { email: account.email }, field: 'display_name', value: BELL },
    { path: USERS, body: { email: account.email }, field: 'avatar_url', value: 'http://x.test/' },
  ])('is named by $path: $field', async ({ path, body, field, value, rule = 'format' }) => {
    const who = path === USERS ? fixture.as(admin) : fixture.rest;
    const tenant = path === '/api/v1/auth/signup' ? undefined : admin.tenantId;
    const answer = await who.post(path, { ...body, [field]: value }, { tenant });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(answer.body.error.details).toEqual([{ field, rule }]);
  });

  it.each(['display_name', 'avatar_url'])(
    'is named where accounts are changed: %s',
    async (field) => {
      const bob = await fixture.register(admin.tenantId);
      const change = { [field]: field === 'avatar_url' ? 'javascript:x' : BELL };
      const answers = [
        await fixture.as(bob).patch('/api/v1/user/profile', change),
        await fixture.as(admin).patch(`${USERS}/${bob.userId}`, change),
      ];
      for (const { body } of answers)
        expect(body.error.details).toEqual([{ field, rule: 'format' }]);
    },
  );
});

describe('an account that an administrator makes', () => {
  const make = (body: object, key: string) =>
    fixture.as(admin).post(USERS, body, { headers: { 'idempotency-key': key } });

  it('R11 is answered again as it stands when the request is repeated under its key', async () => {
    const body = { email: 'made.once@example.com', password: PASSWORD };
    const made = await make(body, 'made once');
    const path = `${USERS}/${made.body.id}`;
    const changed = await fixture.as(admin).patch(path, { display_name: 'Once' });
    await fixture.logIn({ tenantId: admin.tenantId, email: body.email });
    const again = await make(body, 'made once');
    expect(again.status).toBe(201);
    expect(again.body).toMatchObject({ id: made.body.id, display_name: 'Once' });
    expect(keys(again.body)).toEqual(keys(changed.body));
    expect((await make({ email: 'other@example.com' }, 'made once')).status).toBe(422);
  });

  it('is not made again under its key once it is deleted', async () => {
    const body = { email: 'made.gone@example.com' };
    const made = await make(body, 'made and gone');
    await fixture.as(admin).delete(`${USERS}/${made.body.id}`);
    const again = await make(body, 'made and gone');
    expect(again).toMatchObject({ status: 409, code: 'already_created' });
    expect(again.body.error.details).toEqual({ id: made.body.id });
    expect((await make(body, 'another key')).status).toBe(201);
  });

  it('shows the last sign-in also where it is changed', async () => {
    const bob = await fixture.register(admin.tenantId);
    const path = `${USERS}/${bob.userId}`;
    const { body: seen } = await fixture.as(admin).get(path);
    expect(seen.last_login_at).toEqual(expect.any(String));
    const changed = await fixture.as(admin).patch(path, { display_name: 'Robert' });
    expect(changed.body).toMatchObject({
      display_name: 'Robert',
      last_login_at: seen.last_login_at,
    });
  });
});

describe('mail', () => {
  it('is found whatever the case of the address, kept by no cache, and says who it is from', async () => {
    const bob = await fixture.register(admin.tenantId, 'case');
    const { text } = await fixture.mail(bob.email, /Confirm/);
    expect(text).toMatch(/This mail comes from Company of ann\.\n$/);
    const query = { to: bob.email.toUpperCase() };
    const list = await fixture.rest.get('/dev/mailbox', { query });
    expect(list.body.messages).toHaveLength(1);
    expect(list.headers.get('cache-control')).toBe('no-store');
  });

  it('holds a link whose use is kept by no cache either', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { token } = await fixture.mail(bob.email, /Confirm/);
    const headers = { accept: 'application/json' };
    const used = await fixture.rest.get('/api/v1/auth/verify-email', { query: { token }, headers });
    expect(used.status).toBe(200);
    expect(used.headers.get('cache-control')).toBe('no-store');
  });
});
