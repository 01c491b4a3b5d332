/** Maintains `agent_keys`, which an agent's list of keys reads; a deleted agent's keys have no rows. */
import type { KeyEnvironment } from '@cardea/crypto';
import { orNull, projection, table, textOf } from '@cardea/read-models';
import type { KeyUsed } from '../../credentials/credentials.module.ts';
import type { TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { AgentEvent } from '../agents/agent.ts';
import type { AgentKeyEvent } from './agent-key.ts';

export const agentKeyRows = table('agent_keys', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    agent_id: 'text',
    name: 'text',
    environment: textOf<KeyEnvironment>(),
    allowed_cidrs: 'text[]',
    created_by: orNull('text'),
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
    last_used_at: orNull('timestamptz'),
    revoked_at: orNull('timestamptz'),
  },
});

export const agentKeysProjection = projection<
  AgentKeyEvent | AgentEvent | KeyUsed | TenantDeleted
>()({
  name: 'agent_keys',
  log: 'identity',
  tables: [agentKeyRows],
  on: {
    AgentKeyIssued: ({ data, metadata }) => {
      const { hash: _hash, request_hash: _request, ...key } = data;
      const row = { ...key, tenant_id: metadata.tenantId, created_by: metadata.actor.id };
      return [agentKeyRows.put({ ...row, last_used_at: null, revoked_at: null })];
    },
    AgentKeyRevoked: ({ data }) => [
      agentKeyRows.patch({ id: data.id }, { revoked_at: data.revoked_at }),
    ],
    KeyUsed: ({ data }) =>
      data.kind === 'agk'
        ? [agentKeyRows.patch({ id: data.id }, { last_used_at: data.used_at })]
        : [],
  },
  // The deletion of an agent names none of its keys, so their rows are deleted by the agent's id.
  apply: {
    on: ['AgentDeleted', 'TenantDeleted'],
    statements: (events, { schema }) => [
      {
        text: `DELETE FROM ${schema}.agent_keys WHERE agent_id = ANY($1) OR tenant_id = ANY($1)`,
        values: [events.map(({ data }) => data.id)],
      },
    ],
  },
});
