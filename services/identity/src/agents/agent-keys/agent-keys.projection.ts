/** Keeps `agent_keys`, which an agent's list of keys reads; a deleted agent's keys have no rows. */
import { type Projected, type Projection, patch, put } from '@cardea/read-models';
import type { KeyUsed } from '../../credentials/credentials.module.ts';
import type { AgentKeyEvent } from './agent-key.ts';

type On<T extends AgentKeyEvent['type']> = Projected<Extract<AgentKeyEvent, { type: T }>['data']>;

export const agentKeysProjection: Projection = {
  name: 'agent_keys',
  log: 'identity',
  tables: [
    {
      name: 'agent_keys',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        agent_id: 'text',
        name: 'text',
        environment: 'text',
        allowed_cidrs: 'text[]',
        created_at: 'timestamptz',
        expires_at: 'timestamptz',
        last_used_at: 'timestamptz',
        revoked_at: 'timestamptz',
      },
    },
  ],
  on: {
    AgentKeyIssued: ({ data, metadata }: On<'AgentKeyIssued'>) => {
      const { hash: _hash, request_hash: _request, ...key } = data;
      const row = { ...key, tenant_id: metadata.tenantId, last_used_at: null, revoked_at: null };
      return [{ table: 'agent_keys', change: put(row) }];
    },
    AgentKeyRevoked: ({ data }: On<'AgentKeyRevoked'>) => [
      { table: 'agent_keys', change: patch({ id: data.id }, { revoked_at: data.revoked_at }) },
    ],
    KeyUsed: ({ data }: Projected<KeyUsed['data']>) =>
      data.kind === 'agk'
        ? [{ table: 'agent_keys', change: patch({ id: data.id }, { last_used_at: data.used_at }) }]
        : [],
  },
  // The end of an agent names none of its keys, so their rows go by the agent's id.
  apply: {
    on: ['AgentDeleted'],
    run: async (sql, events, { schema }) => {
      const deleted = events.map(({ data }) => (data as { readonly id: string }).id);
      await sql.query(`DELETE FROM ${schema}.agent_keys WHERE agent_id = ANY($1)`, [deleted]);
    },
  },
};
