import { applicationScopeOf } from '@cardea/http';
import { describe, expect, it } from 'vitest';
import { claimsOf, PASSWORD } from './identity-fixture.ts';
import { application, authorized, oauthOfFile, token } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();

type Asked = 'account' | 'roles' | 'any';
const endpointsOf = (...scopes: readonly Asked[]) =>
  fixture.host.endpoints
    .map(({ contract }) => contract)
    .filter(
      (contract) => contract.who !== 'anyone' && scopes.includes(applicationScopeOf(contract)),
    );

/** Calls those endpoints with a bearer token and returns the ones that did not refuse it with an expected code. */
async function notRefused(
  bearer: string,
  { scopes, expected }: { readonly scopes: readonly Asked[]; readonly expected: readonly string[] },
): Promise<readonly string[]> {
  const open: string[] = [];
  for (const { method, path } of endpointsOf(...scopes)) {
    const address = path.replaceAll(/\{\w+\}/g, 'nobody');
    const { tenantId: tenant } = admin;
    const answer = await fixture.rest.call(method.toUpperCase(), address, { bearer, tenant });
    const got = `${answer.status} ${answer.code}`;
    if (!expected.includes(got)) open.push(`${method} ${path}: ${got}`);
  }
  return open;
}

// Endpoints that accept no user refuse users with these codes.
const REFUSALS = ['403 insufficient_scope', '403 forbidden', '401 invalid_agent_key'];
/**
 * Paths of a person's own account, and administrative paths through which an application could extend its own rights.
 */
const ACCOUNT =
  /^\/api\/v1\/(user\/|me\/|auth\/(consents|step-up|me|resend)|api-keys|admin\/(applications|resource-servers|keys|invitations)|admin\/users\/(import|\{id\}\/(impersonate|reset-))|agents\/\{id\}\/keys|agent\/sessions)/;

const STEP_UP = '/api/v1/auth/step-up';
const STEP_UP_MS = 600_000;
const BY_PASSWORD = { method: 'password', password: PASSWORD };
const TOTP = '/api/v1/me/mfa/totp';
const CONSENTS = '/api/v1/auth/consents';

const SCOPE = 'openid profile email roles';

describe('a token of an application', () => {
  it('oauth 24 opens nothing of its user, whatever a third party was granted', async () => {
    const client = await application(fixture, admin, { scopes: SCOPE.split(' ') });
    const more = { scope: SCOPE };
    const { access_token } = await authorized(fixture, { client, account: admin, more });
    const of = { scopes: ['account'], expected: REFUSALS } as const;
    expect(await notRefused(access_token, of)).toEqual([]);
  });

  it('oauth 11 24 opens nothing of its role without the scope roles', async () => {
    const client = await application(fixture, admin);
    const { access_token } = await authorized(fixture, { client, account: admin });
    const of = { scopes: ['account', 'roles'], expected: REFUSALS } as const;
    expect(await notRefused(access_token, of)).toEqual([]);
    expect(endpointsOf('roles').length).toBeGreaterThan(5);
  });

  it('oauth 24 may be an administrator with the scope roles, but for what would lend it more', async () => {
    const client = await application(fixture, admin, { scopes: SCOPE.split(' ') });
    const more = { scope: SCOPE };
    const { access_token } = await authorized(fixture, { client, account: admin, more });
    const { tenantId: tenant } = admin;
    const users = await fixture.rest.get('/api/v1/admin/users', { bearer: access_token, tenant });
    expect(users.status).toBe(200);
    for (const { path } of endpointsOf('roles', 'any')) {
      expect([path, ACCOUNT.test(path)]).toEqual([path, false]);
    }
  });

  it('oauth 24 is no user where its application speaks for itself', async () => {
    const client = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: SCOPE.split(' ') },
    });
    const { client_id, client_secret } = client;
    const form = { grant_type: 'client_credentials', scope: SCOPE, client_id, client_secret };
    const { body } = await token(fixture, form);
    // A machine gets a refusal because of its kind, or because it lacks the required scope.
    const of = { scopes: ['account', 'roles'], expected: REFUSALS } as const;
    expect(await notRefused(String(body.access_token), of)).toEqual([]);
  });

  it("oauth 24 acts as the account where it is the tenant's own and was granted that", async () => {
    const scopes = ['openid', 'account'];
    const own = await application(fixture, admin, { first_party: true, scopes });
    const more = { scope: 'openid account' };
    const { access_token: bearer } = await authorized(fixture, {
      client: own,
      account: admin,
      more,
    });
    const profile = await fixture.rest.get('/api/v1/user/profile', { bearer });
    expect([profile.status, profile.body.id]).toEqual([200, admin.userId]);
    // Without the scope `roles` the application has none of its user's roles.
    const { tenantId: tenant } = admin;
    const users = await fixture.rest.get('/api/v1/admin/users', { bearer, tenant });
    expect([users.status, users.code]).toEqual([403, 'insufficient_scope']);
  });

  it('oauth 24 identity 13 changes factors after a step-up, and stays what it was', async () => {
    const scopes = ['openid', 'account'];
    const account = await fixture.register(admin.tenantId);
    const client = await application(fixture, admin, { first_party: true, scopes });
    const more = { scope: 'openid account' };
    const { access_token: access } = await authorized(fixture, { client, account, more });
    const enrol = (bearer: string) => fixture.as({ ...account, access: bearer }).post(TOTP);
    fixture.clock.move(STEP_UP_MS);
    expect((await enrol(access)).code).toBe('step_up_required');
    const stepped = await fixture.as({ ...account, access }).post(STEP_UP, BY_PASSWORD);
    expect(stepped.status).toBe(200);
    const [before, after] = [access, stepped.body.access_token].map(claimsOf);
    const { aud, sub, sid, client_id, scope } = before;
    expect(after).toMatchObject({ aud, sub, sid, client_id, scope });
    expect(after.auth_time - before.auth_time).toBeGreaterThanOrEqual(STEP_UP_MS / 1000);
    expect((await enrol(stepped.body.access_token)).status).toBe(201);
    const [consent] = (await fixture.as(account).get(CONSENTS)).body.consents;
    expect((await fixture.as(account).delete(`${CONSENTS}/${consent.id}`)).status).toBe(200);
    const late = await fixture.as({ ...account, access }).post(STEP_UP, BY_PASSWORD);
    expect(late.status).toBe(401);
  });
});
