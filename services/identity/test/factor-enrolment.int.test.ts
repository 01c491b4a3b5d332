/** Users enrol, list and remove their second factors. */
import { describe, expect, it } from 'vitest';
import { type Account, identityOfFile } from './identity-fixture.ts';
import { codeOf, type Enrolled, nextCode, withTotp } from './mfa-fixture.ts';

const { fixture, admin } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const newcomer = () => fixture.register(admin.tenantId);
const enrolledOne = async (): Promise<Enrolled> => withTotp(fixture, await newcomer());
const wrongCode = (secret: string) =>
  codeOf(secret, fixture.clock.now()).replace(/^./, (digit) => (digit === '1' ? '2' : '1'));
const mfaOf = async (account: Account) => (await fixture.as(account).get('/api/v1/me/mfa')).body;

describe('an authenticator app', () => {
  it('identity 11 is enrolled by its first code, and listed without its secret', async () => {
    const bob = await newcomer();
    expect(await mfaOf(bob)).toEqual({
      policy: 'optional',
      factors: [],
      recovery_codes_remaining: 0,
    });
    const { factorId, secret, recoveryCodes } = await withTotp(fixture, bob);
    expect(new Set(recoveryCodes).size).toBe(10);
    const listed = await mfaOf(bob);
    expect(listed).toMatchObject({
      factors: [{ id: factorId, type: 'totp', name: 'My phone' }],
      recovery_codes_remaining: 10,
    });
    expect(JSON.stringify(listed)).not.toContain(secret);
    const path = `/api/v1/admin/users/${bob.userId}`;
    expect((await fixture.as(admin).get(path)).body.mfa_enabled).toBe(true);
  });

  it('counts for nothing before that', async () => {
    const bob = await newcomer();
    const me = fixture.as(bob);
    const { factor_id: id, secret } = (await me.post('/api/v1/me/mfa/totp')).body;
    expect((await mfaOf(bob)).factors).toEqual([]);
    expect((await fixture.logIn(bob)).body.mfa_required).toBe(false);
    const confirm = `/api/v1/me/mfa/totp/${id}/confirm`;
    const miss = await me.post(confirm, { code: wrongCode(secret) });
    expect(miss).toMatchObject({ status: 401, code: 'invalid_code' });
    fixture.clock.move(10 * 60_000);
    const late = await me.post(confirm, { code: codeOf(secret, fixture.clock.now()) });
    expect(late).toMatchObject({ status: 410, code: 'enrolment_expired' });
  });

  it('identity 13 of somebody else is one that nobody has', async () => {
    const bob = await enrolledOne();
    const eve = await newcomer();
    const begun = (await fixture.as(bob).post('/api/v1/me/mfa/totp')).body;
    const code = nextCode(fixture, begun.secret);
    const [foreign, unknown] = await Promise.all(
      [begun.factor_id, 'nobody'].map((id) =>
        fixture.as(eve).post(`/api/v1/me/mfa/totp/${id}/confirm`, { code }),
      ),
    );
    expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
    expect(foreign?.body.error.message).toBe(unknown?.body.error.message);
    for (const id of [bob.factorId, 'nobody']) {
      const removal = await fixture.as(eve).delete(`/api/v1/me/mfa/${id}`);
      expect(removal).toMatchObject({ status: 404, code: 'not_found' });
    }
    expect((await mfaOf(bob)).factors).toHaveLength(1);
  });

  it('identity 13 is enrolled, removed and its codes renewed after a recent sign-in alone', async () => {
    const bob = await enrolledOne();
    fixture.clock.move(600_000);
    const me = fixture.as(bob);
    const answers = [
      await me.post('/api/v1/me/mfa/totp'),
      await me.post('/api/v1/me/mfa/recovery-codes'),
      await me.delete(`/api/v1/me/mfa/${bob.factorId}`),
    ];
    for (const { status, code, headers } of answers) {
      expect([status, code]).toEqual([401, 'step_up_required']);
      expect(headers.get('www-authenticate')).toContain('insufficient_user_authentication');
    }
  });

  it('is removed with its recovery codes, and asked for no more', async () => {
    const bob = await enrolledOne();
    const removal = await fixture.as(bob).delete(`/api/v1/me/mfa/${bob.factorId}`);
    expect(removal.body).toEqual({ status: 'removed' });
    expect(await mfaOf(bob)).toMatchObject({ factors: [], recovery_codes_remaining: 0 });
    expect((await fixture.logIn(bob)).body.mfa_required).toBe(false);
  });
});

describe('a tenant that wants no second factors', () => {
  it('asks for none and enrols none', async () => {
    const boss = await fixture.signUp();
    const bob = await withTotp(fixture, await fixture.register(boss.tenantId));
    await fixture.setTenant(boss.tenantId, { mfa_policy: 'disabled' });
    const login = await fixture.logIn(bob);
    expect(login.body.mfa_required).toBe(false);
    const me = fixture.as({ ...bob, access: login.body.access_token });
    expect(await me.post('/api/v1/me/mfa/totp')).toMatchObject({
      status: 403,
      code: 'mfa_disabled',
    });
  });
});
