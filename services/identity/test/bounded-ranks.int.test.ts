/** Nobody can raise their own rank through actions that their rank allows. */
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import type { RestAnswer } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type Account, claimsOf, PASSWORD } from './identity-fixture.ts';
import {
  application,
  authorized,
  authorizeUrl,
  browser,
  oauthOfFile,
  pkce,
  REDIRECT,
  signIn,
} from './oauth-fixture.ts';

const ROOT = { tenantId: BOOTSTRAP_TENANT_ID, email: 'root@example.com' };
const { fixture, admin: owner } = oauthOfFile({
  RATE_LIMIT_FACTOR: '10000',
  ADMIN_EMAIL: ROOT.email,
  ADMIN_PASSWORD: PASSWORD,
});

const APPLICATIONS = '/api/v1/admin/applications';
const INVITATIONS = '/api/v1/admin/invitations';
const ACTING = { name: 'Inner', type: 'web', redirect_uris: [REDIRECT], first_party: true };
const ELSEWHERE = { redirect_uris: ['https://attacker.example/'] };
const OWNER = ['owner', 'admin'];

let count = 0;
const newEmail = () => {
  count += 1;
  return `rank.${count}@example.com`;
};
async function signedIn(of: Pick<Account, 'tenantId' | 'email'>): Promise<Account> {
  const { body } = await fixture.logIn(of);
  return { ...of, userId: body.user_id, access: body.access_token, refresh: body.refresh_token };
}
async function addUser(by: Account, roles: readonly string[]): Promise<Account> {
  const { tenantId } = by;
  const email = newEmail();
  const body = { email, password: PASSWORD, roles };
  expect((await fixture.as(by).post('/api/v1/admin/users', body)).status).toBe(201);
  return signedIn({ tenantId, email });
}
const told = ({ status, code }: RestAnswer) => (code === undefined ? status : `${status} ${code}`);

describe('an application that acts for people', () => {
  it('P1 is neither made nor changed by an administrator, by any of its fields', async () => {
    const admin = await addUser(owner, ['admin']);
    const as = fixture.as(admin);
    for (const fields of [{ first_party: true }, { scopes: ['openid', 'roles'] }]) {
      const made = await as.post(APPLICATIONS, { ...ACTING, first_party: false, ...fields });
      expect(told(made)).toBe('403 forbidden');
    }
    const acting = await fixture.as(owner).post(APPLICATIONS, ACTING);
    expect(acting.status).toBe(201);
    const path = `${APPLICATIONS}/${acting.body.id}`;
    for (const change of [ELSEWHERE, { first_party: false }, { require_par: true }]) {
      expect(told(await as.patch(path, change))).toBe('403 forbidden');
    }
    expect(told(await as.post(`${path}/rotate-secret`, {}))).toBe('403 forbidden');
    expect(told(await as.delete(path))).toBe('403 forbidden');
    expect((await fixture.as(owner).get(path)).body).toMatchObject({ redirect_uris: [REDIRECT] });

    const own = await as.post(APPLICATIONS, { ...ACTING, first_party: false });
    expect(own.status).toBe(201);
    const more = `${APPLICATIONS}/${own.body.id}`;
    for (const change of [{ first_party: true }, { scopes: ['openid', 'roles'] }]) {
      expect(told(await as.patch(more, change))).toBe('403 forbidden');
    }
    expect((await as.patch(more, ELSEWHERE)).status).toBe(200);
  });

  it('P1 of an administrator gets no role of an owner who signs in through it', async () => {
    const admin = await addUser(owner, ['admin']);
    const client = await application(fixture, admin);
    const asked = authorizeUrl(client, {
      ...{ scope: 'openid roles', code_challenge: pkce().challenge },
    });
    const back = await signIn(browser(fixture), asked, { account: owner });
    expect(back.searchParams.get('error')).toBe('invalid_scope');
    const { access_token: bearer } = await authorized(fixture, { client, account: owner });
    expect(claimsOf(bearer).roles ?? []).toEqual([]);
    const { tenantId: tenant } = owner;
    const settings = { settings: { app_url: 'https://attacker.example' } };
    const path = `/api/v1/admin/tenants/${tenant}`;
    expect(told(await fixture.rest.patch(path, settings, { bearer, tenant }))).toBe(
      '403 insufficient_scope',
    );
  });

  it('P1 needs a system administrator in the tenant of the deployment, and so do its settings', async () => {
    const root = await signedIn(ROOT);
    const middle = await addUser(root, OWNER);
    expect(told(await fixture.as(middle).post(APPLICATIONS, ACTING))).toBe('403 forbidden');
    const path = `/api/v1/admin/tenants/${BOOTSTRAP_TENANT_ID}`;
    const settings = { settings: { app_url: 'https://attacker.example' } };
    expect(told(await fixture.as(middle).patch(path, settings))).toBe('403 forbidden');
    expect((await fixture.as(root).post(APPLICATIONS, ACTING)).status).toBe(201);
    expect((await fixture.as(root).patch(path, { display_name: 'Ours' })).status).toBe(200);
  });
});

describe('the invitation of an owner', () => {
  it('P1 is voided by an administrator in no way, and still makes an owner', async () => {
    const admin = fixture.as(await addUser(owner, ['admin']));
    const email = newEmail();
    const made = await fixture.as(owner).post(INVITATIONS, { email, roles: OWNER });
    expect(made.status).toBe(201);
    const { token } = await fixture.mail(email, /invited/i);
    const users = '/api/v1/admin/users';
    const answers = [
      await admin.post(INVITATIONS, { email, roles: ['member'] }),
      await admin.delete(`${INVITATIONS}/${made.body.id}`),
      await admin.post(users, { email, password: PASSWORD }),
      await admin.post(users, { email, send_invitation: true }),
    ];
    expect(answers.map(told)).toEqual(Array(4).fill('403 forbidden'));
    const imported = await admin.post(`${users}/import`, { users: [{ email }] });
    expect(imported.body).toEqual({ imported: 0, failed: [{ index: 0, code: 'forbidden' }] });
    const joined = await fixture.rest.post('/api/v1/auth/invitations/accept', {
      ...{ token, password: PASSWORD },
    });
    expect([joined.status, claimsOf(joined.body.access_token).roles]).toEqual([200, OWNER]);
  });

  it('P1 is replaced by an owner, and one to a member by an administrator', async () => {
    const admin = fixture.as(await addUser(owner, ['admin']));
    const [high, low] = [newEmail(), newEmail()];
    const invite = (by: typeof admin, email: string, roles: readonly string[]) =>
      by.post(INVITATIONS, { email, roles });
    expect((await invite(fixture.as(owner), high, OWNER)).status).toBe(201);
    expect((await invite(fixture.as(owner), high, ['member'])).status).toBe(201);
    expect((await invite(fixture.as(owner), low, ['member'])).status).toBe(201);
    expect((await invite(admin, low, ['admin'])).status).toBe(201);
  });
});

describe('the settings of a tenant', () => {
  const settingsOf = async (account: Account) =>
    (await fixture.as(account).get('/api/v1/auth/me')).body.tenant.settings;

  it('are shown to an administrator, and to a member only what a client needs', async () => {
    const shown = await settingsOf(await addUser(owner, ['member']));
    expect(Object.keys(shown).toSorted()).toEqual([
      ...['auth_methods', 'branding', 'email_verification_required', 'language', 'mfa_policy'],
      ...['otp', 'password_policy', 'webauthn'],
    ]);
    for (const roles of [['admin'], OWNER]) {
      expect(Object.keys(await settingsOf(await addUser(owner, roles)))).toEqual(
        expect.arrayContaining(['app_url', 'allowed_redirect_uris', 'social', 'session']),
      );
    }
  });
});
