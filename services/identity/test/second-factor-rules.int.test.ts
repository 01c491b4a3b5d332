/** What is due before a sign-in counts, what it may enrol, and what is recorded of a failed one. */
import { describe, expect, it } from 'vitest';
import { claimsOf, identityOfFile } from './identity-fixture.ts';
import { mfaTokenOf, nextCode, show, VERIFY, withTotp } from './mfa-fixture.ts';
import { type Behaviour, softwareAuthenticator } from './software-authenticator.ts';

const { fixture, admin: ann } = identityOfFile({ RATE_LIMIT_FACTOR: '1000' });

const CHALLENGE = '/api/v1/auth/mfa/challenge';
const PASSKEYS = '/api/v1/auth/passkeys';

describe('a sign-in that has to enrol a factor', () => {
  it('enrols a passkey, which its owner signs in by from then on', async () => {
    const boss = await withTotp(fixture, await fixture.signUp());
    const bob = await fixture.register(boss.tenantId);
    await fixture.setTenant(boss.tenantId, { mfa_policy: 'required' });
    const mfa_token = await mfaTokenOf(fixture, bob);
    const key = softwareAuthenticator();
    const ask = () => fixture.rest.post(CHALLENGE, { mfa_token, method: 'passkey' });
    const shown = (challenge_id: string, response: object) =>
      fixture.rest.post(VERIFY, { mfa_token, method: 'passkey', challenge_id, response });
    const wrong = (await ask()).body;
    const elsewhere = key.create(wrong.options, { origin: 'https://evil.test' });
    expect((await shown(wrong.challenge_id, elsewhere)).code).toBe('invalid_code');
    const { challenge_id, options } = (await ask()).body;
    const done = await shown(challenge_id, key.create(options));
    expect(done.status).toBe(200);
    expect(claimsOf(done.body.access_token).amr).toEqual(['pwd', 'pop', 'mfa']);
    expect((await shown(challenge_id, key.create(options))).code).toBe('invalid_mfa_token');
    const begun = await fixture.rest.post(`${PASSKEYS}/options`, {}, { tenant: bob.tenantId });
    const body = { challenge_id: begun.body.challenge_id, response: key.get(begun.body.options) };
    const signedIn = await fixture.rest.post(`${PASSKEYS}/verify`, body, { tenant: bob.tenantId });
    expect(signedIn).toMatchObject({ status: 200, body: { user_id: bob.userId } });
  });
});

describe('a right password whose second factor is due', () => {
  const misses = async ({ emailHash }: { emailHash: string }) => {
    const { streams } = fixture.host.needsOf('identity');
    const { signins } = await import('../src/streams/signin.ts');
    const { state } = await streams.load(signins, { tenantId: ann.tenantId, id: emailHash });
    return state.status === 'none' ? [] : state.prefixes.map(({ failures }) => failures);
  };

  it('leaves the misses of before, which go when the factor is shown', async () => {
    const bob = await withTotp(fixture, await fixture.register(ann.tenantId));
    const position = await fixture.head();
    for (let miss = 0; miss < 3; miss += 1) await fixture.logIn(bob, 'not the password');
    const events = await fixture.eventsSince(position);
    const failed = events.find(({ type }) => type === 'SignInFailed');
    const emailHash = String(failed?.streamId).replace('signin-', '');
    const token = await mfaTokenOf(fixture, bob);
    expect(await misses({ emailHash })).toEqual([3]);
    const code = nextCode(fixture, bob.secret);
    expect((await show(fixture, token, { method: 'totp', code })).status).toBe(200);
    expect(await misses({ emailHash })).toEqual([]);
  });
});

describe('a sign-in by a passkey that is refused', () => {
  const failuresSince = async (position: bigint) =>
    (await fixture.eventsSince(position))
      .filter(({ type }) => type === 'PasskeySignInFailed')
      .map(({ data }) => data);
  async function withPasskey() {
    const bob = await fixture.register(ann.tenantId);
    const key = softwareAuthenticator();
    const me = fixture.as(bob);
    const { challenge_id, options } = (await me.post('/api/v1/me/passkeys/options')).body;
    const response = key.create(options);
    await me.post('/api/v1/me/passkeys', { challenge_id, response });
    return { bob, key };
  }
  const signIn = async (key: ReturnType<typeof softwareAuthenticator>, how?: Behaviour) => {
    const { tenantId: tenant } = ann;
    const { body } = await fixture.rest.post(`${PASSKEYS}/options`, {}, { tenant });
    const shown = { challenge_id: body.challenge_id, response: key.get(body.options, how) };
    return fixture.rest.post(`${PASSKEYS}/verify`, shown, { tenant });
  };

  it('is recorded with whose it was, and with nobody where nobody has it', async () => {
    const { bob, key } = await withPasskey();
    const position = await fixture.head();
    expect((await signIn(key, { origin: 'https://evil.test' })).code).toBe('invalid_passkey');
    const stranger = softwareAuthenticator();
    expect((await signIn(stranger)).code).toBe('invalid_passkey');
    await fixture.as(ann).patch(`/api/v1/admin/users/${bob.userId}`, { status: 'disabled' });
    expect((await signIn(key)).code).toBe('invalid_passkey');
    expect(await failuresSince(position)).toMatchObject([
      { user_id: bob.userId, reason: 'invalid_credentials' },
      { user_id: null, reason: 'invalid_credentials' },
      { user_id: bob.userId, reason: 'disabled' },
    ]);
  });
});

describe('a deleted user', () => {
  it('leaves their address to whoever signs up or registers with it', async () => {
    const { email, tenantId } = await fixture.signUp('cy');
    const other = await fixture.signUp('dan');
    const signUp = () =>
      fixture.rest.post('/api/v1/auth/signup', {
        ...{ email, password: 'another good password', company_name: 'Second' },
      });
    expect((await signUp()).body).not.toHaveProperty('access_token');
    const entered = (await fixture.logIn({ tenantId, email })).body;
    const owner = fixture.as({ tenantId, access: entered.access_token });
    // The last administrator cannot leave, so another one is added first.
    const second = {
      email: `two.${email}`,
      roles: ['owner', 'admin'],
      password: 'a password of two',
    };
    expect((await owner.post('/api/v1/admin/users', second)).status).toBe(201);
    expect((await owner.delete(`/api/v1/admin/users/${entered.user_id}`)).status).toBe(200);
    const again = await signUp();
    expect(again).toMatchObject({ status: 201, body: { access_token: expect.any(String) } });
    expect(again.body.tenant_id).not.toBe(tenantId);
    expect(other.tenantId).not.toBe(again.body.tenant_id);
  });
});
