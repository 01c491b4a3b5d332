/** Tenants that require second factors of everybody, and administrators who remove one. */
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, identityOfFile, PASSWORD } from './identity-fixture.ts';
import { mfaTokenOf, nextCode, show, withTotp } from './mfa-fixture.ts';

const { fixture } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const CHALLENGE = '/api/v1/auth/mfa/challenge';

/** A tenant whose administrator has a factor already, and a member without one. */
async function demanding() {
  const boss = await withTotp(fixture, await fixture.signUp());
  const bob = await fixture.register(boss.tenantId);
  await fixture.setTenant(boss.tenantId, { mfa_policy: 'required' });
  return { boss, bob };
}
const challenge = (mfa_token: string, method = 'totp') =>
  fixture.rest.post(CHALLENGE, { mfa_token, method });

describe('a tenant that demands a second factor', () => {
  it('lets whoever has none enrol one, and nothing else', async () => {
    const { bob } = await demanding();
    const begun = (await fixture.logIn(bob)).body;
    expect(begun).toEqual({
      user_id: bob.userId,
      email_verified: false,
      mfa_required: true,
      mfa_enrollment_required: true,
      mfa_token: expect.any(String),
      mfa_methods: ['totp', 'passkey'],
      expires_in: 300,
    });
    const enrolled = (await challenge(begun.mfa_token)).body;
    const { secret, otpauth_url: url } = enrolled.options;
    expect(new URL(url).searchParams.get('secret')).toBe(secret);
    const done = await show(fixture, begun.mfa_token, {
      method: 'totp',
      code: nextCode(fixture, secret),
      challenge_id: enrolled.challenge_id,
    });
    expect(done.body.recovery_codes).toHaveLength(10);
    const me = fixture.as({ ...bob, access: done.body.access_token });
    expect(claimsOf(done.body.access_token).amr).toEqual(['pwd', 'otp', 'mfa']);
    expect((await me.get('/api/v1/me/mfa')).body).toMatchObject({
      policy: 'required',
      factors: [{ id: enrolled.challenge_id, type: 'totp', name: null }],
    });
    expect((await fixture.logIn(bob)).body.mfa_enrollment_required).toBeUndefined();
  });

  it('takes for that no code without its challenge, and no factor of somebody else', async () => {
    const { boss, bob } = await demanding();
    const token = await mfaTokenOf(fixture, bob);
    const { options } = (await challenge(token)).body;
    const eve = await fixture.as(boss).post('/api/v1/me/mfa/totp');
    const shown = [
      { method: 'totp', code: nextCode(fixture, options.secret) },
      { method: 'totp', code: nextCode(fixture, boss.secret), challenge_id: boss.factorId },
      {
        method: 'totp',
        code: nextCode(fixture, eve.body.secret),
        challenge_id: eve.body.factor_id,
      },
      { method: 'recovery', code: boss.recoveryCodes[0] ?? '' },
    ];
    for (const each of shown) {
      expect(await show(fixture, token, each)).toMatchObject({ status: 401, code: 'invalid_code' });
    }
  });

  it('enrols nothing by a token of before there was a factor', async () => {
    const { bob } = await demanding();
    const [first, second] = [await mfaTokenOf(fixture, bob), await mfaTokenOf(fixture, bob)];
    const enrol = async (token: string) => {
      const { challenge_id, options } = (await challenge(token)).body;
      const code = nextCode(fixture, options.secret);
      return { method: 'totp', code, challenge_id };
    };
    const later = await enrol(second);
    expect((await show(fixture, first, await enrol(first))).status).toBe(200);
    for (const answer of [await challenge(second), await show(fixture, second, later)]) {
      expect(answer).toMatchObject({ status: 401, code: 'invalid_mfa_token' });
    }
  });

  it('gives who registers there no tokens before that', async () => {
    const { boss } = await demanding();
    const answer = await fixture.rest.post(
      '/api/v1/auth/register',
      { email: 'cy@example.com', password: PASSWORD },
      { tenant: boss.tenantId },
    );
    expect(answer).toMatchObject({ status: 201, body: { mfa_enrollment_required: true } });
    expect(answer.body.access_token).toBeUndefined();
  });

  it('leaves nobody without one', async () => {
    const { boss } = await demanding();
    const removal = await fixture.as(boss).delete(`/api/v1/me/mfa/${boss.factorId}`);
    expect(removal).toMatchObject({ status: 409, code: 'mfa_required_by_policy' });
  });
});

describe('an administrator', () => {
  const resetOf = (of: Pick<Account, 'userId'>) => `/api/v1/admin/users/${of.userId}/reset-mfa`;

  it('takes all second factors from somebody who lost them, and void is what they began', async () => {
    const boss = await fixture.signUp();
    const bob = await withTotp(fixture, await fixture.register(boss.tenantId));
    const begun = await mfaTokenOf(fixture, bob);
    const reset = await fixture.as(boss).post(resetOf(bob));
    expect(reset.body).toEqual({ status: 'mfa reset' });
    const stale = [
      { method: 'totp', code: nextCode(fixture, bob.secret) },
      { method: 'recovery', code: bob.recoveryCodes[0] ?? '' },
    ];
    for (const each of stale) expect((await show(fixture, begun, each)).status).toBe(401);
    expect((await fixture.logIn(bob)).body.mfa_required).toBe(false);
    const listed = await fixture.as(boss).get(`/api/v1/admin/users/${bob.userId}`);
    expect(listed.body.mfa_enabled).toBe(false);
  });

  it('brings no recovery codes of before back with a new factor', async () => {
    const boss = await fixture.signUp();
    const bob = await withTotp(fixture, await fixture.register(boss.tenantId));
    await fixture.as(boss).post(resetOf(bob));
    const again = await withTotp(fixture, bob);
    const code = bob.recoveryCodes[0] ?? '';
    const shown = await show(fixture, await mfaTokenOf(fixture, again), {
      method: 'recovery',
      code,
    });
    expect(shown).toMatchObject({ status: 401, code: 'invalid_code' });
  });

  it('does so neither by a key, nor to somebody above, nor to themselves without a recent sign-in', async () => {
    const owner = await withTotp(fixture, await fixture.signUp());
    const { tenantId } = owner;
    const key = await fixture
      .as(owner)
      .post('/api/v1/api-keys', { name: 'keys', scopes: ['users:write'] });
    const bob = await withTotp(fixture, await fixture.register(tenantId));
    const byKey = await fixture.as({ tenantId, access: key.body.key }).post(resetOf(bob));
    expect(byKey).toMatchObject({ status: 403, code: 'forbidden' });
    const { userId } = await fixture.registerVerified(tenantId, 'adam');
    await fixture.as(owner).patch(`/api/v1/admin/users/${userId}`, { roles: ['admin'] });
    const { body } = await fixture.as(owner).get(`/api/v1/admin/users/${userId}`);
    const adam = (await fixture.logIn({ tenantId, email: body.email })).body;
    const byAdam = fixture.as({ tenantId, access: adam.access_token });
    expect(await byAdam.post(resetOf(owner))).toMatchObject({ status: 403, code: 'forbidden' });
    expect(await byAdam.post(resetOf({ userId: 'nobody' }))).toMatchObject({ status: 404 });
    fixture.clock.move(600_000);
    const own = await fixture.as(owner).post(resetOf(owner));
    expect(own).toMatchObject({ status: 401, code: 'step_up_required' });
  });
});
