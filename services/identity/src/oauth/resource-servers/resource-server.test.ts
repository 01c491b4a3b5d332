import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  createResourceServer,
  deleteResourceServer,
  isIdentifier,
  type ResourceServerEvent,
  resourceServers,
} from './resource-server.ts';

const now = new Date('2026-01-01T00:00:00.000Z');
const data = {
  id: 'rs',
  identifier: 'https://api.example.com',
  name: 'Orders',
  scopes: [{ name: 'orders:read', description: 'Read orders' }],
  token_ttl_seconds: 900,
  created_at: now.toISOString(),
  identifier_hash: 'hash',
  request_hash: null,
};
const created: ResourceServerEvent = { type: 'ResourceServerCreated', data };
const deleted: ResourceServerEvent = {
  type: 'ResourceServerDeleted',
  data: { id: 'rs', identifier: data.identifier, deleted_at: now.toISOString() },
};

describe('a resource server', () => {
  it('is created and deleted once', () => {
    given(resourceServers)
      .when((state) => createResourceServer(data, state))
      .accepts(created);
    given(resourceServers, created)
      .when((state) => createResourceServer(data, state))
      .refuses('already_created');
    given(resourceServers, created)
      .when((state) => deleteResourceServer({ id: 'rs', now }, state))
      .accepts(deleted);
    given(resourceServers, created, deleted)
      .when((state) => deleteResourceServer({ id: 'rs', now }, state))
      .accepts();
    given(resourceServers)
      .when((state) => deleteResourceServer({ id: 'rs', now }, state))
      .refuses('not_found');
  });
});

describe('the identifier of a resource server', () => {
  const of = { issuer: 'https://id.example.com', isDevelopment: false };

  it.each([
    'https://api.example.com',
    'https://api.example.com/',
    'https://api.example.com/v1?a=b',
  ])('may be %s', (text) => {
    expect(isIdentifier(text, of)).toBe(true);
  });

  it.each([
    'https://id.example.com',
    'https://id.example.com/',
    'https://id.example.com/api',
    'https://api.example.com#a',
    'https://ann@api.example.com',
    'http://api.example.com',
    'http://127.0.0.1:3000',
    'https://API.example.com',
    'api.example.com',
    'urn:example:api',
    '',
  ])('may not be %s', (text) => {
    expect(isIdentifier(text, of)).toBe(false);
  });

  it('may be a loopback address in development', () => {
    expect(isIdentifier('http://127.0.0.1:3000', { ...of, isDevelopment: true })).toBe(true);
  });
});
