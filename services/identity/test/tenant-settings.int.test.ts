/** The owners of a tenant can write and read each of its settings, and it takes effect. */
import { untilTrue } from '@cardea/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { TENANT_DEFAULTS } from '../src/workspaces/tenants/tenant.ts';
import { type Account, identityOfFile, PASSWORD } from './identity-fixture.ts';

const { fixture } = identityOfFile({ RATE_LIMIT_FACTOR: '10000' });
let ann: Account;
beforeEach(async () => {
  ann = await fixture.signUp();
});

/** A value that differs from the default, for each setting. */
const client = { client_id: 'id', client_secret: 'a-secret-of-theirs' };
const PAGE = 'https://app.example';
const OTHERS = {
  ...{ auth_methods: ['password', 'otp'], mfa_policy: 'disabled', roles: ['billing'] },
  ...{
    email_verification_required: true,
    language: 'de',
    app_url: PAGE,
    approval_channels: ['email'],
  },
  password_policy: { min: 9, common: 'refuse', zxcvbn_score: 1, breach_check: true, history: 2 },
  session: { absolute_ttl: 600, browser_ttl_seconds: 600 },
  refresh: { mode: 'strict', leeway_seconds: 5 },
  otp: { format: 'digits6' },
  registration: { mode: 'invited', uniform_response: true },
  webauthn: { rp_id: 'app.example', origins: [PAGE] },
  social: {
    ...{ google: client, github: client },
    microsoft: { ...client, tenants: ['11111111-1111-4111-8111-111111111111'] },
  },
  allowed_redirect_uris: [`${PAGE}/signed-in`],
  email: { from_name: 'Acme', reply_to: 'help@app.example' },
  oauth: { cimd_enabled: true },
  branding: {
    ...{ logo_url: `${PAGE}/logo.png`, icon_url: `${PAGE}/icon.png` },
    ...{ primary_color: '#aa00ff', background_color: '#ffffff' },
    ...{ support_email: 'help@app.example', terms_url: `${PAGE}/terms` },
    privacy_url: `${PAGE}/privacy`,
  },
  account_deletion: { allowed: false, wait_days: 3 },
  agent_access: { approver: { role: 'owner' }, max_seconds: 3_600 },
};
/** Each setting by its name; settings in a group are named by both. */
const leaves = (settings: object): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, JSON.stringify(one)])
        : [[name, JSON.stringify(value)]],
    ),
  );

let count = 0;
const newEmail = () => {
  count += 1;
  return `member.${count}@example.com`;
};
const told = ({ status, code }: { status: number; code: string | undefined }) =>
  code === undefined ? `${status}` : `${status} ${code}`;
const path = () => `/api/v1/admin/tenants/${ann.tenantId}`;
const set = (settings: object) => fixture.as(ann).patch(path(), { settings });
const shown = async () => (await fixture.as(ann).get(path())).body.settings;
async function identified() {
  const { body } = await fixture.as(ann).get('/api/v1/admin/applications');
  const { publishable_key } = body.applications[0];
  return (await fixture.rest.post('/api/v1/auth/identify', { publishable_key })).body;
}

describe('a setting of a tenant', () => {
  it('has its default until an owner sets it, and what is not named stays', async () => {
    const before = await shown();
    expect(before).toMatchObject({
      auth_methods: ['password', 'passkeys', 'magic_link', 'otp'],
      mfa_policy: 'optional',
      email_verification_required: false,
      session: { absolute_ttl: 30 * 24 * 3600 },
      refresh: { mode: 'leeway', leeway_seconds: 10 },
    });
    const changed = await set({ refresh: { leeway_seconds: 5 }, approval_channels: ['email'] });
    expect(changed.body.settings).toEqual({
      ...before,
      refresh: { mode: 'leeway', leeway_seconds: 5 },
      approval_channels: ['email'],
    });
    expect(await shown()).toEqual(changed.body.settings);
  });

  it.each([
    { auth_methods: [] },
    { auth_methods: ['smoke signals'] },
    { mfa_policy: 'sometimes' },
    { roles: ['Not A Slug'] },
    { roles: ['owner'] },
    { app_url: 'http://app.example' },
    { app_url: 'https://ann:secret@app.example' },
    { session: { absolute_ttl: 1 } },
    { refresh: { mode: 'never' } },
    { otp: { format: 'runes' } },
    { branding: { logo_url: 'http://app.example/logo.png' } },
    { branding: { primary_color: 'red' } },
    { approval_channels: ['pigeon'] },
    { account_deletion: { wait_days: 0 } },
    { agent_access: { max_seconds: 299 } },
    { agent_access: { approver: { user_id: 'ann' } } },
    { social: { facebook: null } },
  ])('is refused in another form: %j', async (settings) => {
    expect(told(await set(settings))).toBe('400 invalid_request');
  });

  it('has an endpoint that writes it, whichever it is', async () => {
    const before = leaves(await shown());
    expect(Object.keys(before).toSorted()).toEqual(Object.keys(leaves(TENANT_DEFAULTS)).toSorted());
    const changed = await set(OTHERS);
    expect(changed.status, changed.text).toBe(200);
    const after = leaves(await shown());
    const unchanged = Object.entries(before).filter(([name, value]) => value === after[name]);
    expect(unchanged).toEqual([]);
  });

  it('is told to other services where they obey it too', async () => {
    expect((await set({ language: 'de', approval_channels: ['email'] })).status).toBe(200);
    const told = await untilTrue(async () => {
      const { rows } = await fixture.shared.database.asSystem((sql) =>
        sql.query<{ data: object }>(
          `SELECT value -> 'data' AS data FROM bus.records
           WHERE topic = 'cardea.identity.events.v1' AND value ->> 'type' = 'tenant.updated'
             AND value ->> 'tenantId' = $1`,
          [ann.tenantId],
        ),
      );
      return rows[0]?.data;
    });
    expect(told).toMatchObject({ language: 'de', approval_channels: ['email'] });
  });

  it('is set by owners alone', async () => {
    const email = newEmail();
    await fixture
      .as(ann)
      .post('/api/v1/admin/users', { email, password: PASSWORD, roles: ['admin'] });
    const { body } = await fixture.logIn({ tenantId: ann.tenantId, email });
    const admin = fixture.rest.as({ bearer: body.access_token, tenant: ann.tenantId });
    const change = { settings: { app_url: 'https://evil.example' } };
    expect(told(await admin.patch(path(), change))).toBe('403 forbidden');
  });
});

describe('a tenant obeys', () => {
  it('auth_methods and branding, and says so to clients', async () => {
    await set({
      auth_methods: ['magic_link'],
      branding: { primary_color: '#aa00ff', terms_url: 'https://app.example/terms' },
    });
    expect(told(await fixture.logIn(ann))).toBe('403 password_login_disabled');
    expect(await identified()).toMatchObject({
      branding: { primary_color: '#aa00ff', terms_url: 'https://app.example/terms' },
      auth_methods: { password: false, magic_link: true, otp: false },
    });
  });

  it('mfa_policy and email_verification_required', async () => {
    await set({ mfa_policy: 'required' });
    const entered = await fixture.logIn(ann);
    expect(entered.body).toMatchObject({ mfa_required: true, mfa_enrollment_required: true });
    expect(entered.body).not.toHaveProperty('access_token');
    await set({ mfa_policy: 'optional', email_verification_required: true });
    const { tenantId: tenant } = ann;
    const body = { email: newEmail(), password: PASSWORD };
    const made = await fixture.rest.post('/api/v1/auth/register', body, { tenant });
    expect(made.body).toMatchObject({ verification_required: true });
  });

  it('roles, which may then be given', async () => {
    const give = () =>
      fixture.as(ann).post('/api/v1/admin/users', { email: newEmail(), roles: ['billing'] });
    expect(told(await give())).toBe('400 unknown_role');
    await set({ roles: ['billing'] });
    expect((await give()).body.roles).toEqual(['billing']);
  });

  it('app_url and otp, in the mails that it sends once an administrator has a proven address', async () => {
    await set({ app_url: 'https://app.example/', otp: { format: 'digits6' } });
    const { email, tenantId: tenant } = ann;
    const { token } = await fixture.mail(email, /Confirm/);
    const member = await fixture.register(tenant);
    await fixture.rest.post('/api/v1/auth/magic-link', { email: member.email }, { tenant });
    expect((await fixture.mail(member.email, /^Sign in/)).link).toMatch(
      /^http:\/\/cardea\.test\/api\/v1\/auth\/magic-link\/verify#token=/,
    );
    const proven = await fixture.as(ann).post('/api/v1/auth/verify-email', { token });
    expect(proven.status).toBe(200);
    await fixture.rest.post('/api/v1/auth/magic-link', { email }, { tenant });
    expect((await fixture.mail(email, /^Sign in/)).link).toMatch(
      /^https:\/\/app\.example\/magic-link\/verify#token=/,
    );
    await fixture.rest.post('/api/v1/auth/otp/send', { email }, { tenant });
    expect((await fixture.mail(email, /code/i)).text).toMatch(/Your code: \d{6}\n/);
  });

  it('session and refresh', async () => {
    await set({ session: { absolute_ttl: 600 }, refresh: { mode: 'strict' } });
    const { body } = await fixture.logIn(ann);
    const { sessions } = (await fixture.as(ann).get('/api/v1/me/sessions')).body;
    const ends = sessions.map(({ expires_at }: { expires_at: string }) => Date.parse(expires_at));
    expect(Math.min(...ends) - Date.now()).toBeLessThan(601_000);
    const { refresh_token: first } = body;
    const next = (await fixture.refresh(first)).body.refresh_token;
    expect(told(await fixture.refresh(first))).toBe('401 refresh_token_rotated');
    expect(told(await fixture.refresh(next))).toBe('401 invalid_refresh_token');
  });
});
