/** Signing in by a mailed link and by a mailed code. Each issues an access token and starts no session. */
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, identityOfFile } from './identity-fixture.ts';
import { tally } from './replicas-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const LINK = '/api/v1/auth/magic-link';
const SEND = '/api/v1/auth/otp/send';
const VERIFY = '/api/v1/auth/otp/verify';
type Headers = { readonly [name: string]: string };

const ask = (path: string, email: string, tenant = admin.tenantId) =>
  fixture.rest.post(path, { email }, { tenant });
const verifyCode = (body: object, tenant = admin.tenantId, headers: Headers = {}) =>
  fixture.rest.post(VERIFY, body, { tenant, headers });
const verifyLink = (token: string) => fixture.rest.post(`${LINK}/verify`, { token });

/** A member to whom a code was sent, from a separate network. */
async function withCode(tenant = admin.tenantId) {
  const bob = await fixture.register(tenant);
  return { bob, ...(await sendCode(bob.email, tenant)) };
}
async function sendCode(email: string, tenant = admin.tenantId) {
  await fixture.rest.delete('/dev/mailbox');
  const sent = await ask(SEND, email, tenant);
  expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
  const mail = (await fixture.mail(email, /code/)) as unknown as { readonly code: string };
  const cookie = sent.headers.get('set-cookie') ?? '';
  return { code: mail.code, challenge: String(sent.body.challenge_id), cookie };
}
const wrong = (code: string) => code.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
const expectToken = (answer: { status: number; body: { access_token?: string } }, of: Account) => {
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.body).toSorted()).toEqual(['access_token', 'expires_in', 'user_id']);
  const claims = claimsOf(answer.body.access_token ?? '');
  expect(claims).toMatchObject({ sub: of.userId, amr: ['otp'] });
  expect(claims.sid).toBeUndefined();
};

describe('a mailed link', () => {
  it('identity 1 signs in once, without a session, and proves the address', async () => {
    const bob = await fixture.register(admin.tenantId);
    const before = await fixture.as(bob).get('/api/v1/me/sessions');
    const sent = await ask(LINK, bob.email);
    expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(sent.body.challenge_id).toMatch(/^ch_/);
    const { token, link } = await fixture.mail(bob.email, /Sign in/);
    expect(link).toContain('/api/v1/auth/magic-link/verify#token=');
    const signedIn = await verifyLink(token);
    expectToken(signedIn, bob);
    const me = fixture.as({ ...bob, access: signedIn.body.access_token });
    expect((await me.get('/api/v1/user/profile')).body.email_verified).toBe(true);
    // The first proof of the address ends the session in which it was registered.
    expect([before.body.count, (await me.get('/api/v1/me/sessions')).body.count]).toEqual([1, 0]);
    expect(await verifyLink(token)).toMatchObject({ status: 401, code: 'invalid_link' });
  });

  it('identity 9 opens a page by itself, and that uses nothing up', async () => {
    const bob = await fixture.register(admin.tenantId);
    await ask(LINK, bob.email);
    const { token } = await fixture.mail(bob.email, /Sign in/);
    const page = await fetch(`${fixture.baseUrl}${LINK}/verify`);
    expect(page.headers.get('content-type')).toContain('text/html');
    expectToken(await verifyLink(token), bob);
  });

  it('is void once it is old, replaced, of another purpose or of somebody disabled', async () => {
    const bob = await fixture.register(admin.tenantId);
    await ask(LINK, bob.email);
    const { token: first } = await fixture.mail(bob.email, /Sign in/);
    await fixture.rest.delete('/dev/mailbox');
    await ask(LINK, bob.email);
    const { token: second } = await fixture.mail(bob.email, /Sign in/);
    expect(await verifyLink(first)).toMatchObject({ status: 401, code: 'invalid_link' });
    const reset = { token: second, new_password: 'another good password' };
    expect((await fixture.rest.post('/api/v1/auth/reset-password', reset)).status).toBe(401);
    await fixture.as(admin).patch(`/api/v1/admin/users/${bob.userId}`, { status: 'disabled' });
    expect(await verifyLink(second)).toMatchObject({ status: 401, code: 'invalid_link' });
    const eve = await fixture.register(admin.tenantId, 'eve');
    await ask(LINK, eve.email);
    const { token } = await fixture.mail(eve.email, /Sign in/);
    fixture.clock.move(15 * 60_000);
    expect(await verifyLink(token)).toMatchObject({ status: 410, code: 'link_expired' });
  });

  it('of a hundred uses at once works once', async () => {
    const bob = await fixture.register(admin.tenantId);
    await ask(LINK, bob.email);
    const { token } = await fixture.mail(bob.email, /Sign in/);
    const answers = await Promise.all(Array.from({ length: 100 }, () => verifyLink(token)));
    expect(tally(answers)).toEqual({ '200 ok': 1, '401 invalid_link': 99 });
  });
});

describe('a mailed code', () => {
  it('identity 8 signs in by its challenge, the address, the cookie or by itself', async () => {
    const byId = await withCode();
    expectToken(await verifyCode({ code: byId.code, challenge_id: byId.challenge }), byId.bob);
    const byEmail = await withCode();
    const typed = byEmail.code.toLowerCase().replace('-', ' ');
    expectToken(await verifyCode({ code: typed, email: byEmail.bob.email }), byEmail.bob);
    const byCookie = await withCode();
    expect(byCookie.cookie).toMatch(/^__Host-otp=ch_.*Secure; HttpOnly; SameSite=Strict$/);
    const cookie = byCookie.cookie.split(';')[0] ?? '';
    expectToken(
      await verifyCode({ code: byCookie.code }, admin.tenantId, { cookie }),
      byCookie.bob,
    );
    const unbound = await withCode();
    expectToken(await verifyCode({ code: unbound.code }), unbound.bob);
    const again = await verifyCode({ code: unbound.code });
    expect(again).toMatchObject({ status: 401, code: 'invalid_code' });
  });

  it('identity 8 is worth nothing behind five wrong ones', async () => {
    const { bob, code } = await withCode();
    const { email } = bob;
    for (let miss = 0; miss < 5; miss += 1) {
      expect((await verifyCode({ code: wrong(code), email })).code).toBe('invalid_code');
    }
    expect(await verifyCode({ code, email })).toMatchObject({
      status: 429,
      code: 'too_many_attempts',
    });
    const newer = await sendCode(email);
    expectToken(await verifyCode({ code: newer.code, email }), bob);
  });

  it('identity 8 of a hundred guesses at once counts five', async () => {
    const { bob, code } = await withCode();
    const { email } = bob;
    const position = await fixture.head();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => verifyCode({ code: wrong(code), email })),
    );
    expect(tally(answers)).toEqual({ '401 invalid_code': 5, '429 too_many_attempts': 95 });
    const counted = (await fixture.eventsSince(position)).filter(
      ({ type }) => type === 'CodeFailed',
    );
    expect(counted).toHaveLength(5);
  });

  it('identity 8 is void once replaced, in another tenant, and when it is old', async () => {
    const { bob, code } = await withCode();
    const { email } = bob;
    const { code: second, challenge } = await sendCode(email);
    expect((await verifyCode({ code, email })).code).toBe('invalid_code');
    const other = await fixture.signUp();
    const elsewhere = await verifyCode({ code: second, challenge_id: challenge }, other.tenantId);
    expect(elsewhere).toMatchObject({ status: 401, code: 'invalid_code' });
    fixture.clock.move(10 * 60_000);
    const late = await verifyCode({ code: second, email });
    expect(late).toMatchObject({ status: 410, code: 'code_expired' });
    fixture.clock.move(24 * 3600_000);
    expect((await verifyCode({ code: second, email })).code).toBe('invalid_code');
  });

  it('identity 8 of six digits needs its mailbox', async () => {
    const boss = await fixture.signUp();
    await fixture.setTenant(boss.tenantId, { otp: { format: 'digits6' } });
    const { bob, code, challenge } = await withCode(boss.tenantId);
    expect(code).toMatch(/^\d{6}$/);
    expect((await verifyCode({ code }, boss.tenantId)).code).toBe('invalid_code');
    expectToken(await verifyCode({ code, challenge_id: challenge }, boss.tenantId), bob);
  });

  it('P6 identity 8 without a mailbox passes, however many others of its network were wrong', async () => {
    const boss = await fixture.signUp();
    const guess = () => verifyCode({ code: 'AAAA-AAAA' }, boss.tenantId);
    for (let miss = 0; miss < 8; miss += 1) expect((await guess()).code).toBe('invalid_code');
    const sent = [];
    for (let each = 0; each < 8; each += 1) sent.push(await withCode(boss.tenantId));
    const answers = await Promise.all(sent.map(({ code }) => verifyCode({ code }, boss.tenantId)));
    for (const [at, answer] of answers.entries()) expectToken(answer, sent[at]?.bob as Account);
  });

  it('is told to others as a sign-in without a session, and its misses as failures', async () => {
    const { bob, code } = await withCode();
    const position = await fixture.head();
    await verifyCode({ code: wrong(code), email: bob.email });
    expectToken(await verifyCode({ code, email: bob.email }), bob);
    const events = (await fixture.eventsSince(position)).map(({ type }) => type);
    // The mail with the code may still have been under way.
    const types = events.filter((type) => type !== 'MailSettled');
    const proof = ['AccountReclaimed', 'EmailVerified'];
    expect(types).toEqual(['CodeFailed', 'SecretUsed', ...proof, 'SignedIn']);
    const { access_token: access } = (await fixture.logIn(admin)).body;
    const list = await fixture
      .as({ ...admin, access })
      .get('/api/v1/admin/users', { query: { email: bob.email } });
    expect(list.body.users[0].last_login_at).not.toBeNull();
  });
});

describe.each([
  { way: 'magic_link', path: LINK },
  { way: 'otp', path: SEND },
])('asking for a mail to sign in by ($way)', ({ way, path }) => {
  it('S8 identity 3 costs one append and looks the same for every address', async () => {
    const bob = await fixture.register(admin.tenantId);
    const cost = async (email: string) => {
      await fixture.mail(bob.email, /Confirm/);
      const position = await fixture.head();
      const { status, body, headers } = await ask(path, email);
      const asked = (await fixture.eventsSince(position)).filter(
        ({ type }) => type === 'MailRequested',
      );
      return [
        status,
        Object.keys(body),
        body.message,
        [...headers.keys()].toSorted(),
        asked.length,
      ];
    };
    const known = await cost(bob.email);
    expect(known.at(-1)).toBe(1);
    expect(await cost('nobody@example.com')).toEqual(known);
  });

  it('is refused in a tenant that does not allow it', async () => {
    const boss = await fixture.signUp();
    await fixture.setTenant(boss.tenantId, { auth_methods: ['password'] });
    expect(await ask(path, boss.email, boss.tenantId)).toMatchObject({
      status: 403,
      code: `${way}_login_disabled`,
    });
  });
});
