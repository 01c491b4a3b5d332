/** Token exchanges that match no row, or whose client may not request them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { proofBy, proofKey } from './dpop-fixture.ts';
import type { Account } from './identity-fixture.ts';
import { application, oauthOfFile, pkce, REDIRECT } from './oauth-fixture.ts';
import {
  ACCESS_TYPE,
  basicOf,
  type ExchangingAgent,
  eventsSay,
  exchangingAgent,
  grantOf,
  postToken,
  postTokenExchange,
  tokenExchangeForm,
  tokenType,
} from './token-exchange-fixture.ts';

const { fixture, admin } = oauthOfFile();
let agent: ExchangingAgent;
let bob: Account;
beforeAll(async () => {
  agent = await exchangingAgent(fixture, admin);
  bob = await fixture.register(admin.tenantId);
});

type Changed = { readonly [name: string]: string | undefined };
/** A request that would be granted, with the given changes. Undefined omits a parameter. */
const asked = (changed: Changed, headers: { readonly [name: string]: string } = {}) => {
  const form = { ...tokenExchangeForm(bob.access), ...changed };
  const there = Object.entries(form).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return postTokenExchange(fixture, agent, there, headers);
};
/** The account's agent sessions. They would show a session that was started after all. */
const sessionsOf = async (account: Account) =>
  (await fixture.as(account).get('/api/v1/agent/sessions')).body.data.total as number;

describe('an exchange that no row of the table takes', () => {
  it.each<[string, Changed]>([
    ['no subject token', { subject_token: undefined }],
    ['an empty subject token', { subject_token: '' }],
    ['no type of the subject token', { subject_token_type: undefined }],
    ...['id_token', 'refresh_token', 'jwt', 'saml1', 'saml2', 'ACCESS_TOKEN'].map(
      (name): [string, Changed] => [
        `a subject token of the type ${name}`,
        { subject_token_type: tokenType(name) },
      ],
    ),
    ...['id_token', 'refresh_token', 'jwt', 'saml2'].map((name): [string, Changed] => [
      `a request for a token of the type ${name}`,
      { requested_token_type: tokenType(name) },
    ]),
    ['an actor token', { actor_token: 'x.y.z', actor_token_type: ACCESS_TYPE }],
    ['the type of an actor token', { actor_token_type: ACCESS_TYPE }],
    ['another audience', { audience: 'https://rp.example' }],
    ['the vault as audience', { audience: 'http://127.0.0.1:65530/vault' }],
    ['another resource', { resource: 'https://rp.example/api' }],
    ['a scope of OpenID Connect', { scope: 'openid' }],
    ['a scope of another form among services', { scope: 'service:warehouse roles' }],
    ['a form of a scope in other letters', { scope: 'Service:warehouse' }],
    ['a subject token above 8 KiB', { subject_token: 'a'.repeat(8_193) }],
  ])('with %s is invalid_request, and starts nothing [oauth 38]', async (_what, changed) => {
    const before = await sessionsOf(bob);
    const { status, body } = await asked(changed);
    expect([status, body.error]).toEqual([400, 'invalid_request']);
    expect(JSON.stringify(body)).not.toContain('x.y.z');
    expect(await sessionsOf(bob)).toBe(before);
  });

  it.each<[string, string]>([
    ['with letters that no service has', 'service:WAREHOUSE'],
    ['without a name', 'service:'],
    ['with a name above 63 letters', `service:${'a'.repeat(64)}`],
    ['field by field', 'service:warehouse:password'],
    ['more than 50', Array.from({ length: 51 }, (_, at) => `service:of${at}`).join(' ')],
    ['that nobody has registered', 'service:nowhere'],
  ])('names services %s: invalid_scope [oauth 38]', async (_what, scope) => {
    const { status, body } = await asked({ scope });
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
    expect(JSON.stringify(body)).not.toContain(scope);
  });

  it('names a service of which any field is granted: invalid_scope, for sessions name fields [oauth 38]', async () => {
    const services = [grantOf('warehouse', '*')];
    const wide = await exchangingAgent(fixture, admin, { services });
    const { body } = await postTokenExchange(fixture, wide, tokenExchangeForm(bob.access));
    expect(body.error).toBe('invalid_scope');
  });

  it('proves a key, to which no agent token is bound: invalid_request [oauth 38]', async () => {
    const dpop = await proofBy(await proofKey(), fixture);
    const { status, body } = await asked({}, { dpop });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it.each([
    'grant_type',
    'subject_token',
    'subject_token_type',
    'requested_token_type',
    'audience',
    'resource',
    'scope',
    'client_id',
  ])('repeats %s: invalid_request, also with the same value [oauth 38]', async (name) => {
    const form: { readonly [name: string]: string } = {
      ...tokenExchangeForm(bob.access),
      ...{ requested_token_type: ACCESS_TYPE, audience: `${fixture.issuer}/api` },
      ...{ resource: `${fixture.issuer}/api`, client_id: agent.id },
    };
    const twice = [...Object.entries(form), [name, form[name] ?? ''] as const];
    expect((await postTokenExchange(fixture, agent, form)).status).toBe(200);
    const { status, body } = await postTokenExchange(fixture, agent, twice);
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it('comes in a body above 56 KiB, or as JSON: invalid_request [oauth 38]', async () => {
    const large = await asked({ subject_token: 'a'.repeat(60 * 1024) });
    expect([large.status, large.body.error]).toEqual([400, 'invalid_request']);
    const answer = await fetch(`${fixture.baseUrl}/oauth2/token`, {
      method: 'POST',
      body: JSON.stringify(tokenExchangeForm(bob.access)),
      headers: {
        'content-type': 'application/json',
        authorization: basicOf(agent.id, agent.key),
      },
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  });
});

describe('whoever is no agent with its own key', () => {
  it.each<[string, () => Promise<string>]>([
    ['nothing', async () => ''],
    ['a wrong key', async () => `${agent.key.slice(0, -1)}${agent.key.endsWith('x') ? 'y' : 'x'}`],
    [
      'the key of another agent of the tenant',
      async () => (await exchangingAgent(fixture, admin)).key,
    ],
    [
      'the key of another tenant’s agent',
      async () => (await exchangingAgent(fixture, await fixture.signUp('eve'))).key,
    ],
    [
      'an API key',
      async () => {
        const body = { name: 'k', scopes: ['users:read'] };
        return (await fixture.as(admin).post('/api/v1/api-keys', body)).body.key;
      },
    ],
    [
      'the secret of an application',
      async () => {
        const made = await application(fixture, admin, { type: 'm2m', redirect_uris: [] });
        return made.client_secret ?? '';
      },
    ],
    ['the token of an administrator', async () => admin.access],
    [
      'a token of the agent itself',
      async () =>
        (await postTokenExchange(fixture, agent, tokenExchangeForm(bob.access))).body.access_token,
    ],
  ])('shows %s as the secret, and is no client [oauth 38]', async (_what, secretOf) => {
    const client_secret = await secretOf();
    const before = await fixture.head();
    const form = { ...tokenExchangeForm(bob.access), client_id: agent.id };
    const shown = client_secret === '' ? {} : { client_secret };
    const { status, body } = await postToken(fixture, { ...form, ...shown });
    expect([status, body.error]).toEqual([401, 'invalid_client']);
    const events = eventsSay(await fixture.eventsSince(before));
    expect(events).toMatchObject([{ type: 'ClientAuthFailed', data: { client_id: agent.id } }]);
    if (client_secret !== '') expect(JSON.stringify(events)).not.toContain(client_secret);
  });

  it('is an application: it may not exchange, whichever secret it has [oauth 38]', async () => {
    for (const fields of [{ type: 'm2m', redirect_uris: [] }, { type: 'web' }]) {
      const { client_id, client_secret = '' } = await application(fixture, admin, fields);
      const form = { ...tokenExchangeForm(bob.access), client_id, client_secret };
      const { status, body } = await postToken(fixture, form);
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    }
  });

  it('is another tenant’s agent with a token of this one, or of its own with this agent’s id [oauth 38]', async () => {
    const eve = await fixture.signUp('eve');
    const foreign = await exchangingAgent(fixture, eve);
    const own = await postTokenExchange(fixture, foreign, tokenExchangeForm(bob.access));
    expect([own.status, own.body.error]).toEqual([400, 'invalid_grant']);
    const mixed = { id: agent.id, key: foreign.key };
    const other = await postTokenExchange(fixture, mixed, tokenExchangeForm(eve.access));
    expect([other.status, other.body.error]).toEqual([401, 'invalid_client']);
  });

  it('is an agent that shows its key twice, in the header and in the form [oauth 38]', async () => {
    const { status, body } = await asked({ client_secret: agent.key });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it.each<[string, { readonly [name: string]: string }]>([
    ['client_credentials', { scope: 'openid' }],
    ['authorization_code', { code: 'x', redirect_uri: REDIRECT, code_verifier: pkce().verifier }],
    ['refresh_token', { refresh_token: 'rt_x' }],
    ['urn:ietf:params:oauth:grant-type:device_code', { device_code: 'x' }],
  ])('is an agent that asks by the grant %s [oauth 38]', async (grant_type, more) => {
    const { status, body } = await postTokenExchange(fixture, agent, { grant_type, ...more });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it.each(['/oauth2/par', '/oauth2/revoke', '/oauth2/device_authorization', '/oauth2/introspect'])(
    'is an agent at %s, where it is no client [oauth 38]',
    async (path) => {
      const form = { client_id: agent.id, client_secret: agent.key, token: bob.access };
      const answer = await fetch(`${fixture.baseUrl}${path}`, {
        method: 'POST',
        body: new URLSearchParams(form),
      });
      expect([answer.status, await answer.json()]).toMatchObject([
        401,
        { error: 'invalid_client' },
      ]);
    },
  );

  it('is an agent that sends a browser to sign in: a client that nobody knows [oauth 38]', async () => {
    const query = new URLSearchParams({
      client_id: agent.id,
      response_type: 'code',
      scope: 'openid',
    });
    const answer = await fetch(`${fixture.baseUrl}/oauth2/authorize?${query}`, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_client' }]);
  });
});
