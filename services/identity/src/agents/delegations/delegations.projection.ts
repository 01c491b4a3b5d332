/** Maintains `delegations`, which a user's own list reads. */
import { jsonOf, orNull, projection, table } from '@cardea/read-models';
import type { UserEvent } from '../../accounts/accounts.module.ts';
import type { TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { AgentEvent } from '../agents/agent.ts';
import type { ServiceGrant } from '../agents/service-grant.ts';
import type { DelegationEvent } from './delegation.ts';

export const delegationRows = table('delegations', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    user_id: 'text',
    agent_id: 'text',
    services: jsonOf<readonly ServiceGrant[]>(),
    created_at: 'timestamptz',
    expires_at: orNull('timestamptz'),
    withdrawn_at: orNull('timestamptz'),
  },
});

export const delegationsProjection = projection<
  DelegationEvent | UserEvent | AgentEvent | TenantDeleted
>()({
  name: 'delegations',
  log: 'identity',
  tables: [delegationRows],
  on: {
    DelegationGranted: ({ data, metadata }) => {
      const { request_hash: _request, ...delegation } = data;
      const row = { ...delegation, tenant_id: metadata.tenantId, withdrawn_at: null };
      return [delegationRows.put(row)];
    },
    DelegationWithdrawn: ({ data }) => [
      delegationRows.patch({ id: data.id }, { withdrawn_at: data.withdrawn_at }),
    ],
  },
  // The deletion of a user or an agent names no delegation, so the rows are deleted by their ids.
  apply: {
    on: ['UserDeleted', 'AgentDeleted', 'TenantDeleted'],
    statements: (events, { schema }) => [
      {
        text: `DELETE FROM ${schema}.delegations
               WHERE user_id = ANY($1) OR agent_id = ANY($1) OR tenant_id = ANY($1)`,
        values: [events.map(({ data }) => data.id)],
      },
    ],
  },
});
