/** Second factors at a sign-in, and the result of wrong ones. */
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, identityOfFile } from './identity-fixture.ts';
import { codeOf, type Enrolled, mfaTokenOf, nextCode, show, withTotp } from './mfa-fixture.ts';
import { tally } from './replicas-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const newcomer = () => fixture.register(admin.tenantId);
const enrolledOne = async (): Promise<Enrolled> => withTotp(fixture, await newcomer());
const wrongCode = (secret: string) =>
  codeOf(secret, fixture.clock.now()).replace(/^./, (digit) => (digit === '1' ? '2' : '1'));
const mfaOf = async (account: Account) => (await fixture.as(account).get('/api/v1/me/mfa')).body;
const signedIn = async (account: Enrolled) =>
  (
    await show(fixture, await mfaTokenOf(fixture, account), {
      method: 'totp',
      code: nextCode(fixture, account.secret),
    })
  ).body;

describe('a sign-in with a second factor', () => {
  it('identity 11 gets a token that is worth nothing by itself, and with a code a session', async () => {
    const bob = await enrolledOne();
    const begun = await fixture.logIn(bob);
    expect(begun.body).toEqual({
      user_id: bob.userId,
      email_verified: false,
      mfa_required: true,
      mfa_token: expect.any(String),
      mfa_methods: ['totp', 'recovery'],
      expires_in: 300,
    });
    const code = nextCode(fixture, bob.secret);
    const done = await show(fixture, begun.body.mfa_token, { method: 'totp', code });
    expect(done).toMatchObject({ status: 200, body: { mfa_required: false } });
    const { sid, amr } = claimsOf(done.body.access_token);
    expect(sid).toBe(claimsOf(begun.body.mfa_token).jti);
    expect(amr).toEqual(['pwd', 'otp', 'mfa']);
    expect((await fixture.refresh(done.body.refresh_token)).status).toBe(200);
  });

  it('takes no mfa_token as a bearer, anywhere, and no access token in its place', async () => {
    const bob = await enrolledOne();
    const mfa = await mfaTokenOf(fixture, bob);
    const as = fixture.as({ ...bob, access: mfa });
    const answers = await Promise.all([
      as.get('/api/v1/auth/me'),
      as.get('/api/v1/me/mfa'),
      as.post('/api/v1/me/mfa/totp'),
      as.post('/api/v1/me/mfa/recovery-codes'),
      as.delete(`/api/v1/me/mfa/${bob.factorId}`),
      as.get('/api/v1/me/sessions'),
      as.post('/api/v1/user/change-password', { current_password: 'x', new_password: 'y' }),
    ]);
    expect(tally(answers)).toEqual({ '401 unauthenticated': answers.length });
    const code = nextCode(fixture, bob.secret);
    const swapped = await show(fixture, bob.access, { method: 'totp', code });
    expect(swapped).toMatchObject({ status: 401, code: 'invalid_mfa_token' });
    expect((await fixture.refresh(mfa)).status).toBe(401);
  });

  it('identity 11 of twenty at once with one token and one code is one', async () => {
    const bob = await enrolledOne();
    const token = await mfaTokenOf(fixture, bob);
    const code = nextCode(fixture, bob.secret);
    const before = (await fixture.as(bob).get('/api/v1/me/sessions')).body.count;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => show(fixture, token, { method: 'totp', code })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await fixture.as(bob).get('/api/v1/me/sessions')).body.count).toBe(before + 1);
    const again = await show(fixture, token, {
      method: 'totp',
      code: nextCode(fixture, bob.secret),
    });
    expect(again).toMatchObject({ status: 401, code: 'invalid_mfa_token' });
  });

  it('identity 11 takes a code once, whichever sign-in it is shown for, and none of before', async () => {
    const bob = await enrolledOne();
    const [first, second] = [await mfaTokenOf(fixture, bob), await mfaTokenOf(fixture, bob)];
    const earlier = codeOf(bob.secret, fixture.clock.now());
    const code = nextCode(fixture, bob.secret);
    expect((await show(fixture, first, { method: 'totp', code })).status).toBe(200);
    for (const old of [code, earlier]) {
      const replayed = await show(fixture, second, { method: 'totp', code: old });
      expect(replayed).toMatchObject({ status: 401, code: 'invalid_code' });
    }
    const fresh = nextCode(fixture, bob.secret);
    expect((await show(fixture, second, { method: 'totp', code: fresh })).status).toBe(200);
  });

  it('identity 11 is over after five wrong codes, for the right one too', async () => {
    const bob = await enrolledOne();
    const token = await mfaTokenOf(fixture, bob);
    const position = await fixture.head();
    const guesses = await Promise.all(
      Array.from({ length: 12 }, () =>
        show(fixture, token, { method: 'totp', code: wrongCode(bob.secret) }),
      ),
    );
    expect(tally(guesses)).toEqual({ '401 invalid_code': 5, '429 too_many_attempts': 7 });
    const counted = (await fixture.eventsSince(position)).filter(
      ({ type }) => type === 'SecondFactorFailed',
    );
    expect(counted).toHaveLength(5);
    const code = nextCode(fixture, bob.secret);
    const late = await show(fixture, token, { method: 'totp', code });
    expect(late).toMatchObject({ status: 429, code: 'too_many_attempts' });
    expect((await signedIn(bob)).access_token).toEqual(expect.any(String));
  });

  it('P7 is guessed twenty times until the account is blocked, however many sign-ins are begun', async () => {
    const bob = await enrolledOne();
    const answers = [];
    for (let login = 0; login < 6; login += 1) {
      const token = await mfaTokenOf(fixture, bob);
      for (let guess = 0; guess < 4; guess += 1)
        answers.push(await show(fixture, token, { method: 'totp', code: wrongCode(bob.secret) }));
    }
    expect(tally(answers)).toEqual({ '401 invalid_code': 20, '429 too_many_attempts': 4 });
  });

  it('identity 11 takes a recovery code once, and none that was replaced', async () => {
    const bob = await enrolledOne();
    const [first = '', second = ''] = bob.recoveryCodes;
    const use = async (code: string) =>
      show(fixture, await mfaTokenOf(fixture, bob), { method: 'recovery', code });
    const done = await use(first.toLowerCase().replace('-', ' '));
    expect(done.status).toBe(200);
    expect(await use(first)).toMatchObject({ status: 401, code: 'invalid_code' });
    const me = { ...bob, access: done.body.access_token };
    expect((await mfaOf(me)).recovery_codes_remaining).toBe(9);
    const renewed = await fixture.as(me).post('/api/v1/me/mfa/recovery-codes');
    expect(renewed.body.recovery_codes).toHaveLength(10);
    expect(await use(second)).toMatchObject({ status: 401, code: 'invalid_code' });
    expect((await use(renewed.body.recovery_codes[0])).status).toBe(200);
  });

  it('identity 11 of twenty uses of a recovery code at once takes one', async () => {
    const bob = await enrolledOne();
    const [code = ''] = bob.recoveryCodes;
    const tokens = [];
    for (let login = 0; login < 8; login += 1) tokens.push(await mfaTokenOf(fixture, bob));
    const answers = await Promise.all(
      tokens.map((token) => show(fixture, token, { method: 'recovery', code })),
    );
    expect(tally(answers)).toEqual({ '200 ok': 1, '401 invalid_code': 7 });
  });

  it('ends with its time, the tenant, and whatever ends sessions', async () => {
    const bob = await enrolledOne();
    const token = await mfaTokenOf(fixture, bob);
    const other = await fixture.signUp();
    const shown = () => ({ method: 'totp', code: nextCode(fixture, bob.secret) });
    const elsewhere = await show(fixture, token, shown(), { tenant: other.tenantId });
    expect(elsewhere).toMatchObject({ status: 401, code: 'invalid_mfa_token' });
    fixture.clock.move(331_000);
    expect(await show(fixture, token, shown())).toMatchObject({
      status: 410,
      code: 'mfa_token_expired',
    });
    const { access_token: access } = await signedIn(bob);
    const ended = await mfaTokenOf(fixture, bob);
    await fixture.as({ ...bob, access }).delete('/api/v1/me/sessions');
    expect(await show(fixture, ended, shown())).toMatchObject({
      status: 401,
      code: 'invalid_mfa_token',
    });
  });

  it('asks for it behind a mailed code too, and then leaves a token alone', async () => {
    // The first proof of an address would remove the factor, because another person may have prepared the account.
    const bob = await withTotp(fixture, await fixture.registerVerified(admin.tenantId));
    const { tenantId: tenant, email } = bob;
    await fixture.rest.delete('/dev/mailbox');
    await fixture.rest.post('/api/v1/auth/otp/send', { email }, { tenant });
    const { code } = (await fixture.mail(email, /code/)) as unknown as { code: string };
    const begun = await fixture.rest.post('/api/v1/auth/otp/verify', { code, email }, { tenant });
    expect(begun.body).toMatchObject({ mfa_required: true, mfa_methods: ['totp', 'recovery'] });
    expect(begun.body.access_token).toBeUndefined();
    const done = await show(fixture, begun.body.mfa_token, {
      method: 'totp',
      code: nextCode(fixture, bob.secret),
    });
    expect(Object.keys(done.body).toSorted()).toEqual(['access_token', 'expires_in', 'user_id']);
    expect(claimsOf(done.body.access_token).amr).toEqual(['otp', 'otp', 'mfa']);
  });

  it('tells nobody who was wrong about the password that a second factor would be due', async () => {
    const bob = await enrolledOne();
    const [known, unknown] = [
      await fixture.logIn(bob, 'not the password'),
      await fixture.logIn({ ...bob, email: 'nobody@example.com' }, 'not the password'),
    ];
    expect(known.body.error.code).toBe('invalid_credentials');
    const { request_id: _a, ...first } = known.body.error;
    const { request_id: _b, ...second } = unknown.body.error;
    expect(first).toEqual(second);
  });
});
