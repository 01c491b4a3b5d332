/** Signing in by Google, GitHub and Microsoft: which account it signs in to, and what it records. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, claimsOf, identityOfFile } from './identity-fixture.ts';
import { show, withTotp } from './mfa-fixture.ts';
import {
  type CallbackAnswer,
  knownAt,
  newPerson,
  PAGE,
  type Person,
  type SocialFixture,
  type SocialProvider,
  socialFixture,
} from './social-fixture.ts';

const { fixture } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
let social: SocialFixture;
let ann: Account;
beforeAll(async () => {
  social = await socialFixture(fixture);
});
afterAll(async () => {
  await social?.stop();
});
beforeEach(async () => {
  ann = await fixture.signUp();
  await social.setUp(ann);
});

const known = (provider: SocialProvider, person: Person) => knownAt(social, provider, person);
const expectSession = ({ status, body }: CallbackAnswer, isNew: boolean) => {
  expect({ status, keys: Object.keys(body).toSorted() }).toEqual({
    status: 200,
    keys: ['access_token', 'expires_in', 'is_new_user', 'refresh_token', 'user_id'],
  });
  expect(body.is_new_user).toBe(isNew);
};
const adminUser = async (userId: string) =>
  (await fixture.as(ann).get(`/api/v1/admin/users/${userId}`)).body;
/** Event types without the mail that reports a change. */
const typesSince = async (position: bigint) =>
  (await fixture.eventsSince(position))
    .map(({ type }) => type)
    .filter((type) => !type.startsWith('Mail'));

describe.each(['google', 'github', 'microsoft'] as const)('a sign-in by %s', (provider) => {
  it('identity 12 makes an account once, and leaves a session of it each time', async () => {
    const bob = newPerson();
    known(provider, bob);
    const first = await social.signIn(provider, ann.tenantId);
    expectSession(first, true);
    expect(claimsOf(first.body.access_token)).toMatchObject({ email: bob.email, amr: ['fed'] });
    expect(await adminUser(first.body.user_id)).toMatchObject({
      ...{ email: bob.email, email_verified: true, display_name: 'Bob', roles: ['member'] },
      ...{ identities: [provider], vouched: false },
    });
    // The provider's id stays the same, even if the address changes.
    known(provider, { ...bob, email: newPerson().email });
    const again = await social.signIn(provider, ann.tenantId);
    expectSession(again, false);
    expect(again.body.user_id).toBe(first.body.user_id);
    expect((await fixture.refresh(again.body.refresh_token)).status).toBe(200);
  });

  it('identity 12 is linked to the account whose address it proves', async () => {
    const bob = await fixture.register(ann.tenantId);
    const { token } = await fixture.mail(bob.email, /Confirm/);
    await fixture.as(bob).post('/api/v1/auth/verify-email', { token });
    known(provider, { ...newPerson(), email: bob.email });
    const position = await fixture.head();
    const entered = await social.signIn(provider, ann.tenantId);
    expectSession(entered, false);
    expect(entered.body.user_id).toBe(bob.userId);
    expect((await typesSince(position)).filter((type) => type !== 'Reserved')).toEqual([
      'IdentityLinked',
      'SessionStarted',
    ]);
    // The earlier password and the earlier session are still valid.
    expect((await fixture.logIn(bob)).status).toBe(200);
    expect((await fixture.refresh(bob.refresh)).status).toBe(200);
  });
});

describe('a sign-in by a provider', () => {
  it('identity 12 takes an account from whoever had registered its address before', async () => {
    const eve = await withTotp(fixture, await fixture.register(ann.tenantId, 'eve'));
    known('google', { ...newPerson(), email: eve.email });
    const entered = await social.signIn('google', ann.tenantId);
    expectSession(entered, false);
    expect(entered.body.user_id).toBe(eve.userId);
    expect((await fixture.logIn(eve)).code).toBe('invalid_credentials');
    expect((await fixture.refresh(eve.refresh)).code).toBe('invalid_refresh_token');
    const late = await fixture.as(eve).post('/api/v1/me/mfa/totp', {});
    expect(late).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(await adminUser(eve.userId)).toMatchObject({
      ...{ email_verified: true, mfa_enabled: false, identities: ['google'] },
    });
    const owner = fixture.as({ tenantId: ann.tenantId, access: entered.body.access_token });
    expect((await owner.get('/api/v1/me/sessions')).body.count).toBe(1);
  });

  it('asks for the second factor that the account has', async () => {
    const bob = await fixture.register(ann.tenantId);
    const { token } = await fixture.mail(bob.email, /Confirm/);
    await fixture.as(bob).post('/api/v1/auth/verify-email', { token });
    const { recoveryCodes, userId } = await withTotp(fixture, bob);
    known('google', { ...newPerson(), email: bob.email });
    const due = await social.signIn('google', ann.tenantId);
    expect(due).toMatchObject({ status: 200, body: { user_id: userId, mfa_required: true } });
    expect(due.body).not.toHaveProperty('access_token');
    const [code = '', next = ''] = recoveryCodes;
    const shown = await show(fixture, due.body.mfa_token, { method: 'recovery', code });
    expect(shown.status).toBe(200);
    expect(claimsOf(shown.body.access_token).amr).toEqual(['fed', 'otp', 'mfa']);
    const { fragment } = await social.signIn('google', ann.tenantId, PAGE);
    expect(fragment).toMatchObject({ mfa_methods: 'totp,recovery' });
    expect(fragment).not.toHaveProperty('token');
    const { mfa_token = '' } = fragment;
    const second = await show(fixture, mfa_token, { method: 'recovery', code: next });
    expect(second.status).toBe(200);
  });

  it('ends at the page of the tenant with the token alone, unless a code was asked for', async () => {
    known('google', newPerson());
    const position = await fixture.head();
    for (const more of [{}, { exchange: 'false' }]) {
      const { headers, fragment } = await social.signIn('google', ann.tenantId, PAGE, more);
      expect(headers.get('location')).toBe(`${PAGE}#token=${fragment['token']}`);
    }
    expect(await typesSince(position)).not.toContain('SocialCodeIssued');
  });

  it('ends at the page of the tenant, which exchanges its code once for the tokens', async () => {
    known('google', newPerson());
    const entered = await social.signIn('google', ann.tenantId, PAGE, { exchange: 'true' });
    expect(entered.status).toBe(302);
    expect(entered.headers.get('location')).toMatch(`${PAGE}#`);
    expect(entered.headers.get('set-cookie')).toMatch(/^__Host-social-\w{8}=; Path=\/; Max-Age=0;/);
    const { token = '', code = '' } = entered.fragment;
    expect(Object.keys(entered.fragment)).toEqual(['token', 'code']);
    const exchange = (of: string) =>
      fixture.rest.post('/api/v1/auth/social/exchange', { code: of });
    const exchanged = await exchange(code);
    expectSession({ ...entered, status: exchanged.status, body: exchanged.body }, true);
    const { sid } = claimsOf(token);
    expect(claimsOf(exchanged.body.access_token)).toMatchObject({ sid });
    expect((await fixture.refresh(exchanged.body.refresh_token)).status).toBe(200);
    expect(await exchange(code)).toMatchObject({ status: 401, code: 'invalid_code' });
    expect(await exchange(`${ann.tenantId}.x`)).toMatchObject({ code: 'invalid_code' });
  });

  it('of fifty exchanges at once answers one, and none when its minute is over', async () => {
    known('google', newPerson());
    const asking = { exchange: 'true' };
    const { code } = (await social.signIn('google', ann.tenantId, PAGE, asking)).fragment;
    const exchange = () => fixture.rest.post('/api/v1/auth/social/exchange', { code });
    const answers = await Promise.all(Array.from({ length: 50 }, exchange));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const late = (await social.signIn('google', ann.tenantId, PAGE, asking)).fragment;
    fixture.clock.move(60_000);
    const answer = await fixture.rest.post('/api/v1/auth/social/exchange', { code: late['code'] });
    expect(answer).toMatchObject({ status: 410, code: 'code_expired' });
  });

  it('of twenty at once of a new person makes one account', async () => {
    known('github', newPerson());
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => social.signIn('github', ann.tenantId)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ body }) => body.user_id)).size).toBe(1);
    expect(answers.filter(({ body }) => body.is_new_user)).toHaveLength(1);
  });

  it('makes no account where people do not register themselves, but signs in whom it knows', async () => {
    const bob = newPerson();
    known('google', bob);
    expectSession(await social.signIn('google', ann.tenantId), true);
    await social.setUp(ann, { registration: { mode: 'invited' } });
    expectSession(await social.signIn('google', ann.tenantId), false);
    known('google', newPerson());
    const refused = await social.signIn('google', ann.tenantId);
    expect(refused).toMatchObject({ status: 403, code: 'registration_closed' });
    const { fragment } = await social.signIn('google', ann.tenantId, PAGE);
    expect(fragment).toEqual({ error: 'registration_closed' });
  });

  it('lets nobody in who is disabled', async () => {
    known('google', newPerson());
    const { body } = await social.signIn('google', ann.tenantId);
    await fixture.as(ann).patch(`/api/v1/admin/users/${body.user_id}`, { status: 'disabled' });
    const refused = await social.signIn('google', ann.tenantId);
    expect(refused).toMatchObject({ status: 403, code: 'user_inactive' });
  });

  it('is given up, if there is another way in, and may then be linked by somebody else', async () => {
    const bob = newPerson();
    known('google', bob);
    const { body } = await social.signIn('google', ann.tenantId);
    const me = fixture.as({ tenantId: ann.tenantId, access: body.access_token });
    expect((await me.get('/api/v1/me/identities')).body.identities).toMatchObject([
      { provider: 'google' },
    ]);
    const last = await me.delete('/api/v1/me/identities/google');
    expect(last).toMatchObject({ status: 409, code: 'last_credential' });
    known('github', bob);
    expectSession(await social.signIn('github', ann.tenantId), false);
    const position = await fixture.head();
    expect((await me.delete('/api/v1/me/identities/google')).status).toBe(200);
    expect((await me.delete('/api/v1/me/identities/google')).status).toBe(404);
    await expect
      .poll(() => typesSince(position), { timeout: 10_000 })
      .toEqual(['IdentityUnlinked', 'Released']);
    // The same Google account with another address.
    known('google', { ...bob, email: newPerson().email });
    const other = await social.signIn('google', ann.tenantId);
    expectSession(other, true);
    expect(other.body.user_id).not.toBe(body.user_id);
  });

  it('is free again for whoever deletes the account that it made', async () => {
    known('google', newPerson());
    const first = await social.signIn('google', ann.tenantId);
    await fixture.as(ann).delete(`/api/v1/admin/users/${first.body.user_id}`);
    const second = await social.signIn('google', ann.tenantId);
    expectSession(second, true);
    expect(second.body.user_id).not.toBe(first.body.user_id);
  });
});
