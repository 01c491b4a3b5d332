/** Clients that describe themselves by a document. The test's network records its connections. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Dial, Dialer } from '@cardea/http';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, claimsOf, PASSWORD } from './identity-fixture.ts';
import {
  authorized,
  authorizeUrl,
  browser,
  type OAuthFixture,
  oauthCalls,
  oauthFixture,
  pkce,
  REDIRECT,
} from './oauth-fixture.ts';

const database = testDatabase();
const RESOURCE = 'https://orders.example.com';
const CLOSED = 'https://closed.example.com';
const SCOPE = 'orders:read';
const PUBLIC = '93.184.215.14';

/** Addresses by name. A name with two addresses resolves to the second one at the second lookup. */
const names: { [name: string]: readonly string[] } = {
  'client.example': [PUBLIC],
  'inside.example': ['10.0.0.7'],
  'loop.example': ['127.0.0.1'],
  'cloud.example': ['169.254.169.254'],
  'mixed.example': ['10.0.0.7', '::1'],
};
const dials: Dial[] = [];
const looks: string[] = [];
const fetched: string[] = [];

let fixture: OAuthFixture;
let admin: Account;
let bob: Account;
let documents: Server;
beforeAll(async () => {
  documents = createServer(serve);
  await new Promise<void>((resolve) => documents.listen(0, '127.0.0.1', resolve));
  const { port } = documents.address() as AddressInfo;
  const dialer: Dialer = (dial) => {
    dials.push(dial);
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket));
      // The server is local, but the address that it was dialled by is checked.
      Object.defineProperty(socket, 'remoteAddress', { value: dial.address });
      socket.on('error', reject);
    });
  };
  const resolver = async (name: string) => {
    looks.push(name);
    return names[name] ?? [];
  };
  fixture = await oauthFixture(database.url, {}, { documentNetwork: { dialer, resolver } });
  admin = await fixture.signUp();
  bob = await fixture.register(admin.tenantId);
  const scopes = [{ name: SCOPE, description: 'Read orders' }];
  const made = await fixture
    .as(admin)
    .post('/api/v1/admin/resource-servers', { identifier: RESOURCE, name: 'Orders', scopes });
  expect(made.status).toBe(201);
  const eve = await fixture.signUp('eve');
  await fixture
    .as(eve)
    .post('/api/v1/admin/resource-servers', { identifier: CLOSED, name: 'Closed', scopes });
  await fixture.setTenant(eve.tenantId, { oauth: { cimd_enabled: false } });
});
beforeEach(() => {
  dials.length = 0;
  looks.length = 0;
  fetched.length = 0;
});
afterAll(async () => {
  documents?.close();
  documents?.closeAllConnections();
  await fixture?.stop();
});

/** The last segment of the path selects the fault of the response. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const id = `https://${request.headers.host}${request.url}`;
  fetched.push(id);
  const document = {
    client_id: id,
    client_name: 'Agent of Example',
    redirect_uris: [REDIRECT],
    ...{ tenant_id: 'another', first_party: true, allowed_scopes: 'account roles' },
    require_pkce: false,
  };
  switch (request.url) {
    case '/redirect':
      response.writeHead(302, { location: 'https://inside.example/client' }).end();
      return;
    case '/large':
      response.end(JSON.stringify({ ...document, more: 'x'.repeat(64 * 1024) }));
      return;
    case '/other':
      response.end(JSON.stringify({ ...document, client_id: 'https://client.example/client' }));
      return;
    case '/secret':
      response.end(JSON.stringify({ ...document, client_secret: 's' }));
      return;
    default:
      response.end(JSON.stringify(document));
  }
}

const clientAt = (address: string) => ({ id: address, client_id: address });
const ask = (address: string, more: { [name: string]: string } = {}) =>
  browser(fixture).get(
    authorizeUrl(clientAt(address), {
      code_challenge: pkce().challenge,
      ...{ scope: SCOPE, resource: RESOURCE, ...more },
    }),
    { accept: 'application/json' },
  );
const { introspect, refresh } = oauthCalls(() => fixture);

describe('a client that describes itself by a document', () => {
  it('oauth 20 gets tokens for the resource that lets it in, with the consent of its user', async () => {
    const address = 'https://client.example/client';
    const client = clientAt(address);
    const more = { scope: SCOPE, resource: RESOURCE };
    const page = browser(fixture);
    const url = authorizeUrl(client, { code_challenge: pkce().challenge, ...more });
    const { location } = await page.get(url);
    expect(location).toContain('/oauth2/interaction/');
    const signed = await page.post(`${location}/login`, { email: bob.email, password: PASSWORD });
    const resumed = await page.get(signed.body.redirect_to);
    const shown = await page.get(resumed.location, { accept: 'application/json' });
    expect(shown.body).toMatchObject({
      prompt: 'consent',
      client: { name: 'Agent of Example', host: '127.0.0.1:9', first_party: false },
    });
    expect(shown.body.client.id_host).toBe('client.example');
    const html = (await page.get(resumed.location)).text;
    expect(html).toContain('client.example describes it');
    expect(html).toContain('127.0.0.1:9');
    const done = await authorized(fixture, { client, account: bob, page, more });
    expect(claimsOf(done.access_token)).toMatchObject({
      ...{ aud: RESOURCE, scope: SCOPE, client_id: address, sub: bob.userId },
      tid: admin.tenantId,
    });
    expect((await introspect(done.access_token)).active).toBe(true);
    const { body: named } = await refresh(client, done.refresh_token, { resource: RESOURCE });
    expect(named.scope).toBe(SCOPE);
    // RFC 8707 allows the client to name the resource again.
    const next = await refresh(client, named.refresh_token);
    expect(next).toMatchObject({ status: 200, body: { scope: SCOPE } });
    expect(claimsOf(next.body.access_token).aud).toBe(RESOURCE);
    const elsewhere = await refresh(client, next.body.refresh_token, { resource: CLOSED });
    expect([elsewhere.status, elsewhere.body.error]).toEqual([400, 'invalid_client']);
    // There was one fetch, at the address that the name resolves to.
    expect(dials.map(({ address: to }) => to)).toEqual([PUBLIC]);
    const rest = fixture.as(bob);
    const { consents } = (await rest.get('/api/v1/auth/consents')).body;
    expect(consents).toMatchObject([{ client_id: address }]);
    await rest.delete(`/api/v1/auth/consents/${consents[0].id}`);
    expect((await introspect(next.body.access_token)).active).toBe(false);
  });

  it('oauth 20 refreshes no longer than the tenant lets such clients in', async () => {
    const client = clientAt('https://client.example/leaving');
    const more = { scope: SCOPE, resource: RESOURCE };
    const { refresh_token } = await authorized(fixture, { client, account: bob, more });
    await fixture.setTenant(admin.tenantId, { oauth: { cimd_enabled: false } });
    try {
      const answer = await refresh(client, refresh_token);
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_client']);
    } finally {
      await fixture.setTenant(admin.tenantId, { oauth: { cimd_enabled: true } });
    }
    expect((await refresh(client, refresh_token)).status).toBe(200);
  });

  it.each([
    'https://inside.example/client',
    'https://loop.example/client',
    'https://cloud.example/client',
    'https://mixed.example/client',
    'https://127.0.0.1/client',
    'https://[::1]/client',
    'https://10.0.0.7/client',
    'https://0x7f000001/client',
    'https://localhost/client',
  ])('oauth 20 is refused at %s, without a connection', async (address) => {
    const answer = await ask(address);
    expect([answer.status, answer.location, answer.body.error]).toEqual([
      400,
      '',
      'invalid_client',
    ]);
    expect(dials).toEqual([]);
  });

  it('oauth 20 is looked up once, so that its name cannot turn into another address meanwhile', async () => {
    await ask('https://client.example/rebinding');
    expect(looks.length).toBeLessThan(2);
    expect(fetched).toEqual(['https://client.example/rebinding']);
    expect(dials.every(({ address }) => address === PUBLIC)).toBe(true);
  });

  it.each(['redirect', 'large', 'other', 'secret'])(
    'oauth 20 is refused with a document of the kind: %s',
    async (kind) => {
      const answer = await ask(`https://client.example/${kind}`);
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_client']);
      expect(fetched).toEqual([`https://client.example/${kind}`]);
    },
  );

  it("oauth 20 is not even fetched for Cardea's own API, nor for a tenant that lets none in", async () => {
    const address = 'https://client.example/never';
    const own = `${fixture.issuer}/api`;
    for (const resource of [own, CLOSED, 'https://nobody.example']) {
      const answer = await ask(address, { resource });
      expect([resource, answer.status]).toEqual([resource, 400]);
    }
    expect(dials).toEqual([]);
    // A known client is not accepted for another resource either.
    expect((await ask('https://client.example/client')).status).toBe(303);
    const elsewhere = await ask('https://client.example/client', { resource: CLOSED });
    expect([elsewhere.status, elsewhere.location]).toEqual([400, '']);
  });

  it('oauth 19 is said to be possible', async () => {
    const { body } = await fixture.rest.get('/.well-known/oauth-authorization-server');
    expect(body.client_id_metadata_document_supported).toBe(true);
  });
});
