/** Runs identity in its own process, with an owner's token and the applications of a new tenant. */
import { identityService } from '@cardea/identity';
import { serviceFixture } from '@cardea/testing';

/**
 * An application may get 600 tokens a minute, whatever RATE_LIMIT_FACTOR is. With this many applications, the rate
 * stays below that.
 */
const APPLICATIONS = 48;
const PASSWORD = 'a password for the bench';
export type OAuthServer = {
  readonly origin: string;
  readonly issuer: string;
  readonly token: string;
  readonly tenant: string;
  readonly clientIds: readonly string[];
  readonly redirectUri: string;
  readonly email: string;
  readonly password: string;
};

const [databaseUrl = ''] = process.argv.slice(2);
const issuer = 'http://127.0.0.1:9';
const redirectUri = 'http://127.0.0.1:9/callback';
// Hashes are not measured here.
const cheap = { ARGON2_MEMORY: '64', ARGON2_TIME: '1' };
const env = { RATE_LIMIT_FACTOR: '1000000', ISSUER: issuer, ...cheap };
const fixture = await serviceFixture({ databaseUrl, definitions: [identityService], env });
process.on('disconnect', () => process.exit(0));

const email = 'owner@example.com';
const body = { email, password: PASSWORD, company_name: 'Bench' };
const { body: made } = await fixture.rest.post('/api/v1/auth/signup', body);
const { tenant_id: tenant, access_token: token } = made;
const own = { name: 'Shop', type: 'spa', redirect_uris: [redirectUri], first_party: true };
const clientIds: string[] = [];
for (let at = 0; at < APPLICATIONS; at += 1) {
  const of = { bearer: token, tenant };
  const client = await fixture.rest.post('/api/v1/admin/applications', own, of);
  clientIds.push(client.body.client_id);
}
const said: OAuthServer = {
  origin: fixture.baseUrl,
  issuer,
  token,
  tenant,
  redirectUri,
  email,
  password: PASSWORD,
  clientIds,
};
process.send?.(said);
