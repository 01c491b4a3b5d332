import { describe, expect, it } from 'vitest';
import { documentMetadata, readDocument } from './client-document.ts';

const ID = 'https://client.example/metadata.json';
const document = { client_id: ID, client_name: 'Agent', redirect_uris: ['http://127.0.0.1/cb'] };
const read = (more: object = {}) => readDocument(ID, JSON.stringify({ ...document, ...more }));

describe('a document by which a client describes itself', () => {
  it('oauth 20 gives it a name and redirect URIs, and nothing else that it asks for', () => {
    const found = read({
      ...{ tenant_id: 't1', first_party: true, allowed_scopes: 'account', scope: 'account' },
      ...{ require_par: true, jwks_uri: 'http://169.254.169.254/' },
    });
    expect(found).toEqual({ name: 'Agent', redirectUris: ['http://127.0.0.1/cb'] });
    expect(Object.keys(documentMetadata(ID, found ?? { name: '', redirectUris: [] }))).toEqual([
      ...['client_id', 'client_name', 'application_type', 'redirect_uris', 'response_types'],
      ...['grant_types', 'token_endpoint_auth_method', 'scope'],
    ]);
  });

  it.each<[string, object]>([
    ['another client', { client_id: 'https://other.example/' }],
    ['a client with a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['a client with keys', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['no redirect URI', { redirect_uris: [] }],
    ['a redirect URI in clear text', { redirect_uris: ['http://client.example/cb'] }],
    ['a redirect URI that is none', { redirect_uris: [7] }],
    ['a machine', { grant_types: ['client_credentials'] }],
    ['an implicit flow', { response_types: ['token'] }],
  ])('oauth 20 is refused that describes %s', (_what, more) => {
    expect(read(more)).toBeUndefined();
  });

  it('oauth 20 is used as far as it can be', () => {
    const redirect_uris = [
      7,
      'http://client.example/cb',
      'javascript:alert(1)',
      'https://a.example/cb#x',
    ];
    const usable = [
      'http://127.0.0.1/cb',
      'http://localhost/callback',
      'https://client.example/cb',
    ];
    const found = read({ redirect_uris: [...redirect_uris, ...usable, null] });
    expect(found?.redirectUris).toEqual(usable);
    expect(read({ redirect_uris })).toBeUndefined();
    const many = Array.from({ length: 60 }, (_, at) => `https://client.example/${at}`);
    expect(read({ redirect_uris: many })?.redirectUris).toHaveLength(50);
  });

  // These documents were not fetched. The fields come from descriptions in public repositories, November 2026.
  it.each([
    {
      client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
      client_name: 'Claude Code',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    },
    {
      client_id: 'https://vscode.dev/oauth/client-metadata.json',
      client_name: 'Visual Studio Code',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      grant_types: [
        ...['authorization_code', 'refresh_token'],
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code'],
      application_type: 'native',
    },
    // Cursor publishes no document. This one has redirect URIs that public issues name, such as
    // makeplane/plane-mcp-server 159.
    {
      client_id: 'https://cursor.example/oauth/client.json',
      client_name: 'Cursor',
      redirect_uris: [
        ...['cursor://anysphere.cursor-mcp/oauth/callback', 'http://localhost:8787/callback'],
        'https://www.cursor.com/agents/mcp/oauth/callback',
      ],
    },
  ])('oauth 20 is taken whole of $client_name [oauth-32]', (published) => {
    const { client_id: id, redirect_uris: redirectUris, client_name: name } = published;
    const text = JSON.stringify({ ...published, token_endpoint_auth_method: 'none' });
    expect(readDocument(id, text)).toEqual({ name, redirectUris });
  });

  it('oauth 20 is refused that is no object', () => {
    for (const text of ['', '[]', 'null', '"x"', '{']) {
      expect(readDocument(ID, text)).toBeUndefined();
    }
  });

  it('shows the host where it gives no name', () => {
    expect(read({ client_name: ' \u0000 ' })?.name).toBe('client.example');
  });
});
