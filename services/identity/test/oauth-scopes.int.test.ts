import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account } from './identity-fixture.ts';
import {
  application,
  authorized,
  type OAuthFixture,
  oauthFixture,
  token,
} from './oauth-fixture.ts';

const database = testDatabase();
let fixture: OAuthFixture;
let admin: Account;
beforeAll(async () => {
  fixture = await oauthFixture(database.url);
  admin = await fixture.signUp();
});
afterAll(async () => {
  await fixture?.stop();
});

/** Every endpoint that takes a user, with a bearer; answers those that did not refuse it so. */
async function notRefused(bearer: string, expected: readonly string[]): Promise<readonly string[]> {
  const open: string[] = [];
  for (const { contract } of fixture.host.endpoints) {
    const { who, method, path, applicationScope } = contract;
    if (who === 'anyone' || applicationScope === 'any') continue;
    const address = path.replaceAll(/\{\w+\}/g, 'nobody');
    const { tenantId: tenant } = admin;
    const answer = await fixture.rest.call(method.toUpperCase(), address, { bearer, tenant });
    const got = `${answer.status} ${answer.code}`;
    if (!expected.includes(got)) open.push(`${method} ${path}: ${got}`);
  }
  return open;
}

const SCOPE = 'openid profile email roles';

describe('a token of an application', () => {
  it('oauth 24 opens nothing of its user, whatever a third party was granted', async () => {
    const client = await application(fixture, admin, { scopes: SCOPE.split(' ') });
    const more = { scope: SCOPE };
    const { access_token } = await authorized(fixture, { client, account: admin, more });
    // Endpoints that take no user at all refuse them as such.
    const refusals = ['403 insufficient_scope', '403 forbidden', '401 invalid_agent_key'];
    expect(await notRefused(access_token, refusals)).toEqual([]);
  });

  it('oauth 24 is nobody where its application speaks for itself', async () => {
    const client = await application(fixture, admin, {
      ...{ type: 'm2m', redirect_uris: [], scopes: SCOPE.split(' ') },
    });
    const { client_id, client_secret } = client;
    const form = { grant_type: 'client_credentials', scope: SCOPE, client_id, client_secret };
    const { body } = await token(fixture, form);
    const refusals = ['401 unauthenticated', '401 invalid_agent_key'];
    expect(await notRefused(String(body.access_token), refusals)).toEqual([]);
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
    // Without the scope `roles` it has none of its user's.
    const { tenantId: tenant } = admin;
    const users = await fixture.rest.get('/api/v1/admin/users', { bearer, tenant });
    expect([users.status, users.code]).toEqual([403, 'forbidden']);
  });
});
