/** Maintains `agents`, which the lists of administrators and users read; a deleted agent has no row. */
import { jsonOf, orNull, projection, type TableChange, table, textOf } from '@cardea/read-models';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { AgentEvent, ExistingAgent } from './agent.ts';
import type { AgentGrant } from './service-grant.ts';

const row = (change: TableChange): readonly TableChange[] => [change];

export const agentRows = table('agents', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    app_id: orNull('text'),
    name: 'text',
    description: orNull('text'),
    status: textOf<ExistingAgent['status']>(),
    owner_user_id: orNull('text'),
    services: jsonOf<readonly AgentGrant[]>(),
    /** Null in older rows. */
    approvers: orNull(jsonOf<readonly string[]>()),
    created_by: orNull('text'),
    created_at: 'timestamptz',
  },
});

export const agentsProjection = projection<AgentEvent | TenantDeleted>()({
  name: 'agents',
  log: 'identity',
  tables: [agentRows],
  on: {
    AgentCreated: ({ data, metadata }) => {
      const { name_hash: _name, request_hash: _request, ...agent } = data;
      return row(
        agentRows.put({
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
      return row(agentRows.patch({ id }, columns));
    },
    AgentSuspended: ({ data }) => row(agentRows.patch({ id: data.id }, { status: 'suspended' })),
    AgentResumed: ({ data }) => row(agentRows.patch({ id: data.id }, { status: 'active' })),
    AgentDeleted: ({ data }) => row(agentRows.remove({ id: data.id })),
  },
  apply: forgetTenantIn('agents'),
});
