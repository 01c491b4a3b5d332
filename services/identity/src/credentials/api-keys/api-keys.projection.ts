/** Keeps `api_keys`, which the administrators' list reads. */
import { type Projected, type Projection, patch, put } from '@cardea/read-models';
import type { KeyUsed } from '../key-uses/key-use.ts';
import type { ApiKeyEvent } from './api-key.ts';

type On<T extends ApiKeyEvent['type']> = Projected<Extract<ApiKeyEvent, { type: T }>['data']>;

export const apiKeysProjection: Projection = {
  name: 'api_keys',
  log: 'identity',
  tables: [
    {
      name: 'api_keys',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        name: 'text',
        scopes: 'text[]',
        environment: 'text',
        app_id: 'text',
        created_by: 'text',
        created_at: 'timestamptz',
        expires_at: 'timestamptz',
        last_used_at: 'timestamptz',
        revoked_at: 'timestamptz',
      },
    },
  ],
  on: {
    ApiKeyIssued: ({ data, metadata }: On<'ApiKeyIssued'>) => {
      const { hash: _hash, request_hash: _request, ...key } = data;
      const row = { ...key, tenant_id: metadata.tenantId, last_used_at: null, revoked_at: null };
      return [{ table: 'api_keys', change: put(row) }];
    },
    ApiKeyRevoked: ({ data }: On<'ApiKeyRevoked'>) => [
      { table: 'api_keys', change: patch({ id: data.id }, { revoked_at: data.revoked_at }) },
    ],
    KeyUsed: ({ data }: Projected<KeyUsed['data']>) =>
      data.kind === 'svc'
        ? [{ table: 'api_keys', change: patch({ id: data.id }, { last_used_at: data.used_at }) }]
        : [],
  },
};
