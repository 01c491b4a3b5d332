/** Keeps `delegations`, which a user's own list reads. */
import { type Projected, type Projection, patch, put } from '@cardea/read-models';
import type { DelegationEvent } from './delegation.ts';

type On<T extends DelegationEvent['type']> = Projected<
  Extract<DelegationEvent, { type: T }>['data']
>;

export const delegationsProjection: Projection = {
  name: 'delegations',
  log: 'identity',
  tables: [
    {
      name: 'delegations',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        user_id: 'text',
        agent_id: 'text',
        services: 'jsonb',
        created_at: 'timestamptz',
        expires_at: 'timestamptz',
        withdrawn_at: 'timestamptz',
      },
    },
  ],
  on: {
    DelegationGranted: ({ data, metadata }: On<'DelegationGranted'>) => {
      const { request_hash: _request, ...delegation } = data;
      const row = { ...delegation, tenant_id: metadata.tenantId, withdrawn_at: null };
      return [{ table: 'delegations', change: put(row) }];
    },
    DelegationWithdrawn: ({ data }: On<'DelegationWithdrawn'>) => [
      { table: 'delegations', change: patch({ id: data.id }, { withdrawn_at: data.withdrawn_at }) },
    ],
  },
  // The end of a user or an agent names no delegation, so the rows go by their ids.
  apply: {
    on: ['UserDeleted', 'AgentDeleted'],
    run: async (sql, events, { schema }) => {
      const gone = events.map(({ data }) => (data as { readonly id: string }).id);
      await sql.query(
        `DELETE FROM ${schema}.delegations WHERE user_id = ANY($1) OR agent_id = ANY($1)`,
        [gone],
      );
    },
  },
};
