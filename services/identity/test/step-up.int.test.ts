/** Confirming a sign-in by a factor, for calls that require a recent sign-in. */
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, identityOfFile, PASSWORD } from './identity-fixture.ts';
import { codeOf, mfaTokenOf, nextCode, show, withTotp } from './mfa-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const STEP_UP = '/api/v1/auth/step-up';
const STEP_UP_MS = 600_000;
const newcomer = () => fixture.register(admin.tenantId);
const stepUp = (of: Pick<Account, 'access' | 'tenantId'>, body: object) =>
  fixture.as(of).post(STEP_UP, body);
const BY_PASSWORD = { method: 'password', password: PASSWORD };

describe('a call that wants a recent sign-in', () => {
  it('identity 13 fails with an old one, and passes after a step-up by password', async () => {
    const bob = await newcomer();
    fixture.clock.move(STEP_UP_MS);
    const enrol = '/api/v1/me/mfa/totp';
    expect((await fixture.as(bob).post(enrol)).code).toBe('step_up_required');
    const stepped = await stepUp(bob, BY_PASSWORD);
    expect(Object.keys(stepped.body).toSorted()).toEqual(['access_token', 'expires_in']);
    const [before, after] = [bob.access, stepped.body.access_token].map(claimsOf);
    expect(after).toMatchObject({ sub: bob.userId, sid: before.sid, amr: ['pwd'] });
    expect(after.auth_time - before.auth_time).toBeGreaterThanOrEqual(STEP_UP_MS / 1000);
    const fresh = fixture.as({ ...bob, access: stepped.body.access_token });
    expect((await fresh.post(enrol)).status).toBe(201);
    expect((await fixture.as(bob).post(enrol)).code).toBe('step_up_required');
    const refreshed = claimsOf((await fixture.refresh(bob.refresh)).body.access_token);
    expect(refreshed.auth_time).toBe(after.auth_time);
  });

  it('identity 13 takes the second factor of whoever has one, and not their password', async () => {
    const bob = await withTotp(fixture, await newcomer());
    fixture.clock.move(STEP_UP_MS);
    expect(await stepUp(bob, BY_PASSWORD)).toMatchObject({
      status: 403,
      code: 'second_factor_required',
    });
    const code = nextCode(fixture, bob.secret);
    const stepped = await stepUp(bob, { method: 'totp', code });
    expect(claimsOf(stepped.body.access_token).amr).toEqual(['pwd', 'otp', 'mfa']);
    const replayed = await stepUp(bob, { method: 'totp', code });
    expect(replayed).toMatchObject({ status: 401, code: 'invalid_code' });
    const [recovery = ''] = bob.recoveryCodes;
    expect((await stepUp(bob, { method: 'recovery', code: recovery })).status).toBe(200);
    const fresh = fixture.as({ ...bob, access: stepped.body.access_token });
    expect((await fresh.delete(`/api/v1/me/mfa/${bob.factorId}`)).status).toBe(200);
  });

  it('identity 11 takes a code once, for a step-up or for a sign-in', async () => {
    const bob = await withTotp(fixture, await newcomer());
    const token = await mfaTokenOf(fixture, bob);
    const code = nextCode(fixture, bob.secret);
    const answers = await Promise.all([
      show(fixture, token, { method: 'totp', code }),
      ...Array.from({ length: 6 }, () => stepUp(bob, { method: 'totp', code })),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a step-up', () => {
  it('is refused by a wrong factor, which counts as a failed sign-in', async () => {
    const bob = await newcomer();
    const position = await fixture.head();
    const wrong = await stepUp(bob, { method: 'password', password: 'not the password' });
    expect(wrong).toMatchObject({ status: 401, code: 'invalid_credentials' });
    const failed = (await fixture.eventsSince(position)).filter(
      ({ type }) => type === 'SignInFailed',
    );
    expect(failed).toMatchObject([{ data: { method: 'step_up' } }]);
    const codes = { method: 'totp', code: '000000' };
    expect(await stepUp(bob, codes)).toMatchObject({ status: 401, code: 'invalid_code' });
    for (const body of [{ method: 'password' }, { method: 'totp' }, { method: 'magic_link' }]) {
      expect(await stepUp(bob, body)).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  it('P7 guesses a second factor twenty times until the account is blocked', async () => {
    const bob = await withTotp(fixture, await newcomer());
    const code = codeOf(bob.secret, fixture.clock.now());
    for (let guess = 0; guess < 20; guess += 1) {
      expect((await stepUp(bob, { method: 'totp', code })).code).toBe('invalid_code');
    }
    expect(
      await stepUp(bob, { method: 'totp', code: nextCode(fixture, bob.secret) }),
    ).toMatchObject({ status: 429, code: 'too_many_attempts' });
  });

  it('is of a session that is alive: none of a token alone, and of none that was ended', async () => {
    const bob = await newcomer();
    const { tenantId: tenant, email } = bob;
    await fixture.rest.post('/api/v1/auth/otp/send', { email }, { tenant });
    const { code } = (await fixture.mail(email, /code/)) as unknown as { code: string };
    const mailed = await fixture.rest.post('/api/v1/auth/otp/verify', { code, email }, { tenant });
    const alone = await stepUp({ ...bob, access: mailed.body.access_token }, BY_PASSWORD);
    expect(alone).toMatchObject({ status: 401, code: 'user_session_required' });
    const eve = await newcomer();
    await fixture.as(eve).delete(`/api/v1/me/sessions/${claimsOf(eve.access).sid}`);
    const ended = await stepUp(eve, BY_PASSWORD);
    expect(ended).toMatchObject({ status: 401, code: 'user_session_required' });
  });
});
