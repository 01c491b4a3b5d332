/** Keeps `agents`, which the lists of administrators and users read; who was deleted has no row. */
import {
  type Projected,
  type Projection,
  patch,
  put,
  remove,
  type TableChange,
} from '@cardea/read-models';
import type { AgentEvent } from './agent.ts';

type On<T extends AgentEvent['type']> = Projected<Extract<AgentEvent, { type: T }>['data']>;

const change = (row: TableChange['change']): readonly TableChange[] => [
  { table: 'agents', change: row },
];

export const agentsProjection: Projection = {
  name: 'agents',
  log: 'identity',
  tables: [
    {
      name: 'agents',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        app_id: 'text',
        name: 'text',
        description: 'text',
        status: 'text',
        owner_user_id: 'text',
        services: 'jsonb',
        created_at: 'timestamptz',
      },
    },
  ],
  on: {
    AgentCreated: ({ data, metadata }: On<'AgentCreated'>) => {
      const { name_hash: _name, request_hash: _request, ...agent } = data;
      return change(put({ ...agent, tenant_id: metadata.tenantId, status: 'active' }));
    },
    AgentChanged: ({ data }: On<'AgentChanged'>) => {
      const { id, at: _at, name_hash: _name, ...columns } = data;
      return change(patch({ id }, columns));
    },
    AgentSuspended: ({ data }: On<'AgentSuspended'>) =>
      change(patch({ id: data.id }, { status: 'suspended' })),
    AgentResumed: ({ data }: On<'AgentResumed'>) =>
      change(patch({ id: data.id }, { status: 'active' })),
    AgentDeleted: ({ data }: On<'AgentDeleted'>) => change(remove({ id: data.id })),
  },
};
