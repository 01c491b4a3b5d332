/** The rows of the contract's table 4.2 that create and manage accounts, and their rules. */
import { describe, expect, it } from 'vitest';
import {
  AUTH,
  body,
  contractFixture,
  keys,
  NEW_PASSWORD,
  newEmail,
  playRows,
  type Rows,
  refusal,
  TOKENS,
} from './contract-fixture.ts';
import { claimsOf, PASSWORD } from './identity-fixture.ts';
import { oauthFixture } from './oauth-fixture.ts';

const world = contractFixture();
const { inTenant, linkIn, newcomer } = world;

const ACCOUNTS: Rows = {
  'POST /auth/identify': async () => {
    const { applications } = body(
      await world.fixture.as(world.admin).get('/api/v1/admin/applications'),
    );
    const [{ publishable_key }] = applications;
    const identify = (key: string) =>
      world.fixture.rest.post(`${AUTH}/identify`, { publishable_key: key });
    const found = body(await identify(publishable_key));
    expect(found).toMatchObject({ tenant_id: world.admin.tenantId, environment: 'development' });
    expect(keys(found)).toEqual([
      'auth_methods',
      'branding',
      'display_name',
      'environment',
      'tenant_id',
      'tenant_slug',
    ]);
    const { password, passkeys, google, github, mfa_policy } = found.auth_methods;
    expect([password, passkeys, google, github]).toEqual([true, true, true, true]);
    expect(mfa_policy).toBe('optional');
    expect(refusal(await identify(`${publishable_key}x`))).toBe('401 invalid_publishable_key');
  },
  'POST /auth/register': async () => {
    const fields = { email: newEmail(), password: PASSWORD, display_name: 'Bob' };
    const made = body(await inTenant().post(`${AUTH}/register`, fields), 201);
    expect(keys(made)).toEqual(TOKENS);
    expect(made.expires_in).toBe(900);
  },
  'POST /auth/signup': async () => {
    const fields = { email: newEmail(), password: PASSWORD, company_name: 'Acme' };
    const made = body(await world.fixture.rest.post(`${AUTH}/signup`, fields), 201);
    expect(keys(made)).toEqual([...TOKENS, 'email_verified', 'tenant_id'].toSorted());
    expect(claimsOf(made.access_token).roles).toEqual(['owner', 'admin']);
  },
  'POST /auth/login': async () => {
    const { email } = await newcomer();
    const login = (password: string) => inTenant().post(`${AUTH}/login`, { email, password });
    const entered = body(await login(PASSWORD));
    expect(keys(entered)).toEqual([...TOKENS, 'email_verified', 'mfa_required'].toSorted());
    expect(entered.mfa_required).toBe(false);
    expect(refusal(await login('not it at all'))).toBe('401 invalid_credentials');
  },
  'POST /auth/refresh': async () => {
    const bob = await newcomer();
    const renewed = body(await world.fixture.refresh(bob.refresh));
    expect(keys(renewed)).toEqual([...TOKENS, 'email_verified'].toSorted());
    expect(refusal(await world.fixture.refresh(bob.refresh))).toBe('401 refresh_token_rotated');
    expect(refusal(await world.fixture.refresh('rt_nothing'))).toBe('401 invalid_refresh_token');
    expect(refusal(await world.fixture.rest.post(`${AUTH}/refresh`, {}))).toBe(
      '400 invalid_request',
    );
  },
  'POST /auth/forgot-password': async () => {
    const forgot = (email: string) => inTenant().post(`${AUTH}/forgot-password`, { email });
    const known = body(await forgot((await newcomer()).email));
    expect(keys(known)).toEqual(['message']);
    expect(body(await forgot(newEmail()))).toEqual(known);
  },
  'POST /auth/reset-password': async () => {
    const bob = await newcomer();
    await inTenant().post(`${AUTH}/forgot-password`, { email: bob.email });
    const token = await linkIn(bob.email, /password/i);
    const reset = () =>
      world.fixture.rest.post(`${AUTH}/reset-password`, { token, new_password: NEW_PASSWORD });
    expect(keys(body(await reset()))).toEqual(['message']);
    expect(refusal(await reset())).toBe('401 invalid_reset_token');
  },
  'POST /auth/verify-email': async () => {
    const token = await linkIn((await newcomer()).email, /Confirm/);
    const verify = () => world.fixture.rest.post(`${AUTH}/verify-email`, { token });
    expect(body(await verify())).toEqual({ status: 'email verified' });
    expect(refusal(await verify())).toBe('422 invalid_verification_token');
  },
  'GET /auth/verify-email?token=…': async () => {
    const token = await linkIn((await newcomer()).email, /Confirm/);
    const headers = { accept: 'application/json' };
    const verify = () =>
      world.fixture.rest.get(`${AUTH}/verify-email`, { query: { token }, headers });
    expect(body(await verify())).toEqual({ status: 'email verified' });
    expect(refusal(await verify())).toBe('422 invalid_verification_token');
  },
  'POST /auth/resend-verification': async () => {
    const bob = await newcomer();
    const again = () => world.fixture.as(bob).post(`${AUTH}/resend-verification`);
    expect(body(await again())).toEqual({ status: 'verification email sent' });
    const token = await linkIn(bob.email, /Confirm/);
    await world.fixture.as(bob).post(`${AUTH}/verify-email`, { token });
    expect(body(await again())).toEqual({ status: 'verification email sent' });
  },
  'GET /auth/me': async () => {
    const me = body(await world.fixture.as(world.admin).get(`${AUTH}/me`));
    expect(keys(me)).toEqual(['tenant', 'user', 'workspace']);
    expect(keys(me.user)).toEqual(['display_name', 'email', 'id', 'roles']);
    expect(keys(me.tenant)).toEqual([
      'display_name',
      'environment',
      'id',
      'name',
      'settings',
      'slug',
    ]);
    expect(keys(me.workspace.applications[0])).toEqual(['environment', 'id', 'name']);
  },
  'POST /auth/invitations/accept': async () => {
    const email = newEmail();
    body(await world.fixture.as(world.admin).post('/api/v1/admin/invitations', { email }), 201);
    const token = await linkIn(email, /invited/i);
    const accept = () =>
      world.fixture.rest.post(`${AUTH}/invitations/accept`, { token, password: PASSWORD });
    expect(keys(body(await accept()))).toEqual(expect.arrayContaining(TOKENS));
    expect(refusal(await accept())).toBe('401 invalid_invitation');
  },
};

playRows('4.2', ACCOUNTS);

// Rules 5 to 7 have separate tests: keys, introspection and userinfo.
describe('identity 1 the rules of 4.2', () => {
  it('1: registering adds to a tenant; sign-up makes one, if the deployment has it on', async () => {
    const bob = await newcomer();
    expect(claimsOf(bob.access)).toMatchObject({ tid: world.admin.tenantId, roles: ['member'] });
    expect((await world.fixture.signUp()).tenantId).not.toBe(world.admin.tenantId);
    const off = await oauthFixture(world.database.url, { SIGNUP_ENABLED: 'false' });
    try {
      const fields = { email: newEmail(), password: PASSWORD, company_name: 'Acme' };
      expect(refusal(await off.rest.post(`${AUTH}/signup`, fields))).toBe('403 signup_disabled');
    } finally {
      await off.stop();
    }
  });

  it('2: nobody learns which addresses are known, and never by 409', async () => {
    const bob = await newcomer();
    const told = { status: 'check your email to complete registration', user_id: '' };
    const fields = { email: bob.email, password: PASSWORD, display_name: 'Eve' };
    expect(body(await inTenant().post(`${AUTH}/register`, fields), 201)).toEqual(told);
    const founder = { email: world.admin.email, password: PASSWORD, company_name: 'Eve' };
    expect(body(await world.fixture.rest.post(`${AUTH}/signup`, founder), 201)).toEqual(told);
    const strict = await world.fixture.signUp('strict');
    await world.fixture.setTenant(strict.tenantId, { email_verification_required: true });
    const rest = world.fixture.rest.as({ tenant: strict.tenantId });
    const fresh = { ...fields, email: newEmail() };
    const registered = body(await rest.post(`${AUTH}/register`, fresh), 201);
    expect(registered).toMatchObject({ verification_required: true });
    expect(registered).not.toHaveProperty('access_token');
  });

  it('3: nothing logs out but the end of the session', async () => {
    // The pages have a separate button, which ends the session.
    const api = world.fixture.host.endpoints.filter(({ contract }) => contract.audience !== 'page');
    const paths = api.map(({ contract }) => contract.path);
    expect(paths.filter((path) => /log-?out|sign-?out/i.test(path))).toEqual([]);
  });

  it('4: an access token outlives its session, and nothing refreshes it', async () => {
    const bob = await newcomer();
    body(await world.fixture.as(bob).delete(`/api/v1/me/sessions/${claimsOf(bob.access).sid}`));
    expect((await world.fixture.as(bob).get('/api/v1/user/profile')).status).toBe(200);
    expect((await world.fixture.refresh(bob.refresh)).status).toBe(401);
  });
});
