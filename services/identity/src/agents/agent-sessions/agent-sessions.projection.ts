/** Keeps `agent_sessions`, which the lists, the sweeper and the policies that end sessions read. */
import { type Projected, type Projection, patch, put } from '@cardea/read-models';
import type { AgentSessionFacts } from './agent-session.ts';

type Event = Projected<AgentSessionFacts>;

export const agentSessionsProjection: Projection = {
  name: 'agent_sessions',
  log: 'identity',
  tables: [
    {
      name: 'agent_sessions',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        agent_id: 'text',
        key_id: 'text',
        user_id: 'text',
        via: 'text',
        user_epoch: 'integer',
        subject_sid: 'text',
        services: 'jsonb',
        epoch: 'integer',
        purpose: 'text',
        created_at: 'timestamptz',
        expires_at: 'timestamptz',
        ended_at: 'timestamptz',
      },
    },
  ],
  on: {
    AgentSessionStarted: ({ data, metadata }: Event) => [
      {
        table: 'agent_sessions',
        change: put({
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
      },
    ],
    AgentSessionRenewed: ({ data: { id, key_id, services, epoch } }: Event) => [
      { table: 'agent_sessions', change: patch({ id }, { key_id, services, epoch }) },
    ],
    AgentSessionEnded: ({ data: { id, ended_at } }: Event) => [
      { table: 'agent_sessions', change: patch({ id }, { ended_at }) },
    ],
  },
};
