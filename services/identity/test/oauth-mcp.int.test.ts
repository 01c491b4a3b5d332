/** A stock MCP client and a stock MCP server that relies on Cardea's introspection. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testDatabase } from '@cardea/testing';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, claimsOf } from './identity-fixture.ts';
import {
  application,
  browser,
  type OAuthFixture,
  REDIRECT,
  reachableFixture,
  signIn,
  type TestClient,
} from './oauth-fixture.ts';

const database = testDatabase();
const SCOPE = 'tools:call';
let fixture: OAuthFixture;
let admin: Account;
let mcp: Server;
let resource: string;
let client: TestClient;

/** Serves its metadata to everybody, and accepts MCP sessions with a live token for it. */
async function protectedServer(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const own = `http://${request.headers.host}`;
    const metadata = `${own}/.well-known/oauth-protected-resource/mcp`;
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true) {
      const told = {
        resource: `${own}/mcp`,
        authorization_servers: [fixture.issuer],
        scopes_supported: [SCOPE],
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(told));
      return;
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const asked = await fixture.rest.post('/oauth2/introspect', { token: token ?? 'none' });
    if (asked.body.active !== true || asked.body.aud !== `${own}/mcp`) {
      const challenge = `Bearer resource_metadata="${metadata}"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return;
    }
    const speaking = new McpServer({ name: 'orders', version: '1.0.0' });
    speaking.registerTool('whoami', { description: 'Whom the token names' }, async () => ({
      content: [{ type: 'text', text: String(asked.body.sub) }],
    }));
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    await speaking.connect(transport as Parameters<typeof speaking.connect>[0]);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

beforeAll(async () => {
  fixture = await reachableFixture(database.url);
  admin = await fixture.signUp();
  mcp = await protectedServer();
  resource = `http://127.0.0.1:${(mcp.address() as AddressInfo).port}/mcp`;
  const scopes = [{ name: SCOPE, description: 'Call tools' }];
  const made = await fixture
    .as(admin)
    .post('/api/v1/admin/resource-servers', { identifier: resource, name: 'MCP', scopes });
  expect(made.status).toBe(201);
  client = await application(fixture, admin, { type: 'native', scopes: ['openid', SCOPE] });
});
afterAll(async () => {
  mcp?.close();
  mcp?.closeAllConnections();
  await fixture?.stop();
});

function remembering() {
  const kept: { tokens?: OAuthTokens; verifier?: string; sentTo?: URL } = {};
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'MCP client', redirect_uris: [REDIRECT] },
    clientInformation: () => ({ client_id: client.client_id }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (url) => {
      kept.sentTo = url;
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
    invalidateCredentials: () => {
      delete kept.tokens;
    },
  };
  return { kept, provider };
}

const connected = async (provider: OAuthClientProvider) => {
  const transport = new StreamableHTTPClientTransport(new URL(resource), {
    authProvider: provider,
  });
  const own = new Client({ name: 'test', version: '1.0.0' });
  return {
    own,
    transport,
    connect: () => own.connect(transport as Parameters<typeof own.connect>[0]),
  };
};

describe('the MCP SDK', () => {
  it('oauth 19 finds the authorization server by itself, gets a token and calls a tool', async () => {
    const { kept, provider } = remembering();
    const first = await connected(provider);
    await expect(first.connect()).rejects.toThrow('Unauthorized');
    const { sentTo } = kept;
    expect(sentTo?.searchParams.get('resource')).toBe(resource);
    expect(sentTo?.origin).toBe(fixture.issuer);
    const to = `${sentTo?.pathname}${sentTo?.search}`;
    const back = await signIn(browser(fixture), to, { account: admin });
    await first.transport.finishAuth(back.searchParams.get('code') ?? '');
    const token = kept.tokens?.access_token ?? '';
    expect(claimsOf(token)).toMatchObject({ aud: resource, scope: SCOPE, sub: admin.userId });

    const second = await connected(provider);
    await second.connect();
    const answer = await second.own.callTool({ name: 'whoami' });
    expect(answer.content).toEqual([{ type: 'text', text: admin.userId }]);
    await second.own.close();

    // Tokens are not passed through: Cardea itself accepts none of them.
    const { tenantId: tenant } = admin;
    const refused = await fixture.rest.get('/api/v1/auth/me', { bearer: token, tenant });
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const [, document = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    const metadata = (await (await fetch(document)).json()) as { resource: string };
    expect(metadata.resource).toBe(`${fixture.issuer}/api`);
  });

  it('oauth 19 is refused by the server once the consent was withdrawn', async () => {
    const { kept, provider } = remembering();
    const first = await connected(provider);
    await expect(first.connect()).rejects.toThrow('Unauthorized');
    const to = `${kept.sentTo?.pathname}${kept.sentTo?.search}`;
    const back = await signIn(browser(fixture), to, { account: admin });
    await first.transport.finishAuth(back.searchParams.get('code') ?? '');
    const { consents } = (await fixture.as(admin).get('/api/v1/auth/consents')).body;
    await fixture.as(admin).delete(`/api/v1/auth/consents/${consents[0].id}`);
    const second = await connected(provider);
    // The client asks its user again, because neither the token nor its refresh token is valid.
    await expect(second.connect()).rejects.toThrow('Unauthorized');
  });
});
