/** Maintains `resource_servers`, which the administrators' list reads. A deleted resource server has no row. */
import { projection, table } from '@cardea/read-models';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { ResourceServerEvent } from './resource-server.ts';

const rows = table('resource_servers', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    identifier: 'text',
    name: 'text',
    scopes: 'jsonb',
    token_ttl_seconds: 'integer',
    created_at: 'timestamptz',
  },
});

export const resourceServersProjection = projection<ResourceServerEvent | TenantDeleted>()({
  name: 'resource_servers',
  log: 'identity',
  tables: [rows],
  on: {
    ResourceServerCreated: ({ data, metadata }) => {
      const { identifier_hash: _hash, request_hash: _request, ...row } = data;
      const scopes = row.scopes.map((scope) => ({ ...scope }));
      return [rows.put({ ...row, scopes, tenant_id: metadata.tenantId })];
    },
    ResourceServerDeleted: ({ data }) => [rows.remove({ id: data.id })],
  },
  apply: forgetTenantIn('resource_servers'),
});
