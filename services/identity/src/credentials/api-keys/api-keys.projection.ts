/** Maintains `api_keys`, which the administrators' list reads. */

import type { KeyEnvironment } from '@cardea/crypto';
import { orNull, projection, table, textOf } from '@cardea/read-models';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { KeyUsed } from '../key-uses/key-use.ts';
import type { ApiKeyEvent } from './api-key.ts';

export const apiKeyRows = table('api_keys', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    name: 'text',
    scopes: 'text[]',
    environment: textOf<KeyEnvironment>(),
    app_id: orNull('text'),
    created_by: orNull('text'),
    created_at: 'timestamptz',
    expires_at: orNull('timestamptz'),
    last_used_at: orNull('timestamptz'),
    revoked_at: orNull('timestamptz'),
  },
});

export const apiKeysProjection = projection<ApiKeyEvent | KeyUsed | TenantDeleted>()({
  name: 'api_keys',
  log: 'identity',
  tables: [apiKeyRows],
  on: {
    ApiKeyIssued: ({ data, metadata }) => {
      const { hash: _hash, request_hash: _request, ...key } = data;
      const row = { ...key, tenant_id: metadata.tenantId, last_used_at: null, revoked_at: null };
      return [apiKeyRows.put(row)];
    },
    ApiKeyRevoked: ({ data }) => [
      apiKeyRows.patch({ id: data.id }, { revoked_at: data.revoked_at }),
    ],
    KeyUsed: ({ data }) =>
      data.kind === 'svc'
        ? [apiKeyRows.patch({ id: data.id }, { last_used_at: data.used_at })]
        : [],
  },
  apply: forgetTenantIn('api_keys'),
});
