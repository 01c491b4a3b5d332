/** Maintains `resource_servers`, which the administrators' list reads. A deleted resource server has no row. */
import { jsonOf, projection, table } from '@cardea/read-models';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { ResourceScope, ResourceServerEvent } from './resource-server.ts';

export const resourceServerRows = table('resource_servers', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    identifier: 'text',
    name: 'text',
    scopes: jsonOf<readonly ResourceScope[]>(),
    token_ttl_seconds: 'integer',
    created_at: 'timestamptz',
  },
});

export const resourceServersProjection = projection<ResourceServerEvent | TenantDeleted>()({
  name: 'resource_servers',
  log: 'identity',
  tables: [resourceServerRows],
  on: {
    ResourceServerCreated: ({ data, metadata }) => {
      const { identifier_hash: _hash, request_hash: _request, ...row } = data;
      return [resourceServerRows.put({ ...row, tenant_id: metadata.tenantId })];
    },
    ResourceServerDeleted: ({ data }) => [resourceServerRows.remove({ id: data.id })],
  },
  apply: forgetTenantIn('resource_servers'),
});
