/** Maintains `agent_sessions`, which the lists, the sweeper and the policies that end sessions read. */
import { orNull, projection, table } from '@cardea/read-models';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { AgentSessionEvent } from './agent-session.ts';

const rows = table('agent_sessions', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    agent_id: 'text',
    key_id: 'text',
    user_id: orNull('text'),
    via: 'text',
    user_epoch: orNull('integer'),
    subject_sid: orNull('text'),
    services: 'jsonb',
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
  tables: [rows],
  on: {
    AgentSessionStarted: ({ data, metadata }) => [
      rows.put({
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
      rows.patch({ id }, { key_id, services, epoch }),
    ],
    AgentSessionEnded: ({ data: { id, ended_at } }) => [rows.patch({ id }, { ended_at })],
  },
  apply: forgetTenantIn('agent_sessions'),
});
