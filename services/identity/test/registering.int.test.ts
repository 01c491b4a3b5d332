import { get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { reserve } from '@cardea/event-store';
import { untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { emailReservations } from '../src/streams/reservation.ts';
import { identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture, admin } = identityOfFile({
  RATE_LIMIT_FACTOR: '10000',
  HASH_CONCURRENCY: '4',
});

const register = (email: string, headers: { readonly [name: string]: string } = {}) =>
  fixture.rest.post(
    '/api/v1/auth/register',
    { email, password: PASSWORD },
    { tenant: admin.tenantId, headers },
  );

describe('registering', () => {
  it('identity 2 R11 of fifty at once with one address makes one user, round after round', async () => {
    for (let round = 0; round < 5; round += 1) {
      const email = `crowd${round}@example.com`;
      const answers = await Promise.all(Array.from({ length: 50 }, () => register(email)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      const winners = answers.filter(({ body }) => body.access_token !== undefined);
      expect(winners).toHaveLength(1);
      const list = await fixture.as(admin).get('/api/v1/admin/users', { query: { email } });
      expect(list.body.users.map(({ id }: { id: string }) => id)).toEqual([
        winners[0]?.body.user_id,
      ]);
    }
  });

  it('identity 2 frees the address of a registration that died half way, after a minute', async () => {
    const { streams, systemCommand, sealer, ids } = fixture.host.needsOf('identity');
    const { tenantId } = admin;
    const email = 'half.way@example.com';
    const id = await sealer.indexHash({ tenantId }, 'email', email);
    const by = { command: systemCommand(tenantId, 'half'), isOrphan: async () => false };
    const address = { stream: emailReservations, hash: id };
    await reserve(streams, address, `${tenantId}/${ids.next()}`, by);
    expect((await register(email)).body.access_token).toBeUndefined();
    fixture.clock.move(60_000);
    expect((await register(email)).body.access_token).toBeDefined();
    expect((await register(email)).body.access_token).toBeUndefined();
  });

  it.each([false, true])(
    'P8 answers a repeat of an Idempotency-Key alike for a new and a taken address: uniform %s',
    async (uniform) => {
      const boss = await fixture.signUp();
      const registration = { uniform_response: uniform };
      await fixture.setTenant(boss.tenantId, { registration });
      const taken = await fixture.register(boss.tenantId);
      const register = (email: string, key: string) =>
        fixture.rest.post(
          '/api/v1/auth/register',
          { email, password: PASSWORD },
          { tenant: boss.tenantId, headers: { 'idempotency-key': key } },
        );
      const twice = async (email: string) => {
        const key = `twice ${email}`;
        await register(email, key);
        const again = await register(email, key);
        const shape = { ...again.body.error, details: undefined, request_id: undefined };
        return [again.status, shape, Object.keys(again.body.error?.details ?? {})];
      };
      const repeated = await twice(`new.${uniform}@example.com`);
      expect(repeated[0]).toBe(409);
      expect(await twice(taken.email)).toEqual(repeated);
    },
  );

  it('P8 answers a repeat of an Idempotency-Key at sign-up alike for a new and a taken address', async () => {
    const { email: earlier } = await fixture.signUp();
    const { email: member } = await fixture.registerVerified(admin.tenantId);
    const twice = async (email: string) => {
      const headers = { 'idempotency-key': `twice at sign-up ${email}` };
      const body = { email, password: PASSWORD, company_name: 'Acme' };
      await fixture.rest.post('/api/v1/auth/signup', body, { headers });
      const again = await fixture.rest.post('/api/v1/auth/signup', body, { headers });
      const shape = { ...again.body.error, details: undefined, request_id: undefined };
      return [again.status, shape, Object.keys(again.body.error?.details ?? {})];
    };
    const repeated = await twice('new.at.sign-up@example.com');
    expect(repeated[0]).toBe(409);
    expect(await twice(earlier)).toEqual(repeated);
    expect(await twice(member)).toEqual(repeated);
  });

  it('R11 meets itself when it is repeated under one Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'the same request' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => register('repeated@example.com', key)),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(({ body }) => body.user_id)).size).toBe(1);
    const again = await register('repeated@example.com', key);
    expect(again).toMatchObject({ status: 409, code: 'already_created' });
    expect(again.body.error.details).toEqual({ id: made[0]?.body.user_id });
    const other = await register('other@example.com', key);
    expect([other.status, typeof other.body.access_token]).toEqual([201, 'string']);
  });

  it('takes a password of anybody, but fields of nobody else', async () => {
    const { tenantId: tenant } = admin;
    for (const field of ['id', 'roles', 'tenant_id', 'email_verified', 'status', 'created_at']) {
      const body = { email: 'sly@example.com', password: PASSWORD, [field]: 'x' };
      const answer = await fixture.rest.post('/api/v1/auth/register', body, { tenant });
      expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  it.each([
    { name: 'neither header nor key', body: {}, tenant: undefined, code: 'tenant_required' },
    {
      name: 'an unknown tenant',
      body: {},
      tenant: '01900000-0000-7000-8000-000000000000',
      code: 'tenant_not_found',
    },
    {
      name: 'an unknown key',
      body: { publishable_key: `pk_test_${'a'.repeat(24)}` },
      tenant: undefined,
      code: 'invalid_publishable_key',
    },
  ])('is refused with $name', async ({ body, tenant, code }) => {
    const whole = { email: 'lost@example.com', password: PASSWORD, ...body };
    const answer = await fixture.rest.post('/api/v1/auth/register', whole, { tenant });
    expect(answer.code).toBe(code);
  });

  it('withholds tokens while the tenant wants the address verified', async () => {
    const boss = await fixture.signUp();
    const { tenantId } = boss;
    await fixture.setTenant(tenantId, { email_verification_required: true });
    const email = 'careful@example.com';
    const ask = () =>
      fixture.rest.post(
        '/api/v1/auth/register',
        { email, password: PASSWORD },
        { tenant: tenantId },
      );
    const uniform = { user_id: '', verification_required: true };
    expect((await ask()).body).toMatchObject(uniform);
    expect((await fixture.logIn({ tenantId, email })).code).toBe('email_not_verified');
    expect((await fixture.logIn({ tenantId, email }, 'wrong one')).code).toBe(
      'invalid_credentials',
    );
    const { token } = await fixture.mail(email, /Confirm/);
    const proof = { token, password: PASSWORD };
    expect((await fixture.rest.post('/api/v1/auth/verify-email', proof)).status).toBe(200);
    expect((await fixture.logIn({ tenantId, email })).status).toBe(200);
    expect((await ask()).body).toMatchObject(uniform);
  });
});

/** `fetch()` would declare that the request is no navigation, so `node:http` is used. */
const navigated = (url: string, headers: OutgoingHttpHeaders) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, (answer) => resolve(answer.resume())).on('error', reject);
  });

describe('confirming an address', () => {
  it('identity 9 is left to programs and to clicks', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { token } = await fixture.mail(bob.email, /Confirm/);
    const url = `${fixture.baseUrl}/api/v1/auth/verify-email?token=${encodeURIComponent(token)}`;
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    for (const navigation of [{ accept }, { accept, 'sec-fetch-mode': 'navigate' }]) {
      const page = await navigated(url, { 'user-agent': 'Mozilla/5.0', ...navigation });
      expect(page.statusCode).toBe(200);
      expect(page.headers['content-type']).toContain('text/html');
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    }
    const prefetched = await fetch(url, { headers: { 'sec-purpose': 'prefetch' } });
    expect(prefetched.headers.get('content-type')).toContain('text/html');
    await fetch(url, { method: 'HEAD' });
    expect((await fixture.as(bob).get('/api/v1/user/profile')).body.email_verified).toBe(false);

    const path = '/api/v1/auth/verify-email';
    const headers = { accept: '*/*', 'user-agent': 'Mozilla/5.0' };
    const first = await fixture.as(bob).get(path, { query: { token }, headers });
    expect(first).toMatchObject({ status: 200, body: { status: 'email verified' } });
    expect((await fixture.as(bob).get('/api/v1/user/profile')).body.email_verified).toBe(true);
    expect(await fixture.rest.get(path, { query: { token }, headers })).toMatchObject({
      status: 422,
      code: 'invalid_verification_token',
    });
  });

  it('is asked for again by the user, and then only the newest mail works', async () => {
    const bob = await fixture.register(admin.tenantId);
    const { token: first } = await fixture.mail(bob.email, /Confirm/);
    await fixture.rest.delete('/dev/mailbox');
    const resend = () => fixture.as(bob).post('/api/v1/auth/resend-verification');
    expect((await resend()).body).toEqual({ status: 'verification email sent' });
    const { token: second } = await fixture.mail(bob.email, /Confirm/);
    const verify = (token: string) => fixture.as(bob).post('/api/v1/auth/verify-email', { token });
    expect((await verify(first)).status).toBe(422);
    expect((await verify(second)).status).toBe(200);
    const position = await fixture.head();
    expect((await resend()).status).toBe(200);
    expect(await fixture.eventsSince(position)).toEqual([]);
  });
});

describe('what identity tells the others', () => {
  it('is published with every field that its contract asks for', async () => {
    const { store, database: pool } = fixture.host.needsOf('identity');
    const head = await store.head('identity');
    await untilTrue(async () => {
      const relayed = await fixture.shared.cache.get('relay:identity');
      return relayed !== undefined && BigInt(relayed) >= head;
    });
    const parked = await pool.asSystem((sql) =>
      sql.query('SELECT owner, event_type, error_code FROM identity.parked_events'),
    );
    expect(parked.rows).toEqual([]);
  });
});
