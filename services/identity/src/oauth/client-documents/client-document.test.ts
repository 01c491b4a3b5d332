import { describe, expect, it } from 'vitest';
import { documentMetadata, readDocument } from './client-document.ts';

const ID = 'https://client.example/metadata.json';
const document = { client_id: ID, client_name: 'Agent', redirect_uris: ['http://127.0.0.1/cb'] };
const read = (more: object = {}) =>
  readDocument(ID, JSON.stringify({ ...document, ...more }), false);

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

  it('oauth 20 is refused that is no object', () => {
    for (const text of ['', '[]', 'null', '"x"', '{']) {
      expect(readDocument(ID, text, false)).toBeUndefined();
    }
  });

  it('shows the host where it gives no name', () => {
    expect(read({ client_name: ' \u0000 ' })?.name).toBe('client.example');
  });
});
