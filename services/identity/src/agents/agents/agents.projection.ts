/** Maintains `agents`, which the lists of administrators and users read; a deleted agent has no row. */
import { orNull, projection, type TableChange, table } from '@cardea/read-models';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { AgentEvent } from './agent.ts';

const row = (change: TableChange): readonly TableChange[] => [change];

const rows = table('agents', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    app_id: orNull('text'),
    name: 'text',
    description: orNull('text'),
    status: 'text',
    owner_user_id: orNull('text'),
    services: 'jsonb',
    approvers: orNull('jsonb'),
    created_by: orNull('text'),
    created_at: 'timestamptz',
  },
});

export const agentsProjection = projection<AgentEvent | TenantDeleted>()({
  name: 'agents',
  log: 'identity',
  tables: [rows],
  on: {
    AgentCreated: ({ data, metadata }) => {
      const { name_hash: _name, request_hash: _request, ...agent } = data;
      return row(
        rows.put({
          ...agent,
          approvers: agent.approvers ?? null,
          tenant_id: metadata.tenantId,
          status: 'active',
          created_by: metadata.actor.id,
        }),
      );
    },
    AgentChanged: ({ data }) => {
      const { id, at: _at, name_hash: _name, ...columns } = data;
      return row(rows.patch({ id }, columns));
    },
    AgentSuspended: ({ data }) => row(rows.patch({ id: data.id }, { status: 'suspended' })),
    AgentResumed: ({ data }) => row(rows.patch({ id: data.id }, { status: 'active' })),
    AgentDeleted: ({ data }) => row(rows.remove({ id: data.id })),
  },
  apply: forgetTenantIn('agents'),
});
