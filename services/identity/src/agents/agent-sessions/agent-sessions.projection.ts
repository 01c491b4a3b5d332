/** Maintains `agent_sessions`, which the lists, the sweeper and the policies that end sessions read. */
import { jsonOf, orNull, projection, table, textOf } from '@cardea/read-models';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { ServiceGrant } from '../agents/service-grant.ts';
import type { AgentSessionEvent, AgentSessionFacts } from './agent-session.ts';

export const agentSessionRows = table('agent_sessions', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    agent_id: 'text',
    key_id: 'text',
    user_id: orNull('text'),
    via: textOf<AgentSessionFacts['via']>(),
    user_epoch: orNull('integer'),
    subject_sid: orNull('text'),
    services: jsonOf<readonly ServiceGrant[]>(),
    epoch: 'integer',
    purpose: orNull('text'),
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    ended_at: orNull('timestamptz'),
  },
});

export const agentSessionsProjection = projection<AgentSessionEvent | TenantDeleted>()({
  name: 'agent_sessions',
  log: 'identity',
  tables: [agentSessionRows],
  on: {
    AgentSessionStarted: ({ data, metadata }) => [
      agentSessionRows.put({
        id: data.id,
        tenant_id: metadata.tenantId,
        agent_id: data.agent_id,
        key_id: data.key_id,
        user_id: data.user_id,
        via: data.via,
        user_epoch: data.user_epoch ?? null,
        subject_sid: data.subject_sid ?? null,
        services: data.services,
        epoch: data.epoch,
        purpose: data.purpose,
        created_at: data.created_at,
        expires_at: data.expires_at,
        ended_at: data.ended_at,
      }),
    ],
    AgentSessionRenewed: ({ data: { id, key_id, services, epoch } }) => [
      agentSessionRows.patch({ id }, { key_id, services, epoch }),
    ],
    AgentSessionEnded: ({ data: { id, ended_at } }) => [
      agentSessionRows.patch({ id }, { ended_at }),
    ],
  },
  apply: forgetTenantIn('agent_sessions'),
});
