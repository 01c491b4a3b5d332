/** Keeps `revocations`, from which the shared cache is filled again when it comes back empty. */
import type { RevocationKind } from '@cardea/auth';
import {
  type Projected,
  type Projection,
  put,
  remove,
  type TableChange,
} from '@cardea/read-models';
import type { SessionFacts } from '../sessions/sessions.module.ts';

type Of = Projected<{ readonly id: string }>;

const mark = (
  kind: RevocationKind,
  event: Of,
  tokensBefore: number | null = null,
): readonly TableChange[] => [
  {
    table: 'revocations',
    change: put({
      kind,
      id: event.data.id,
      tenant_id: event.metadata.tenantId,
      marked_at: event.time.toISOString(),
      tokens_before: tokensBefore,
    }),
  },
];

export const revocationsProjection: Projection = {
  name: 'revocations',
  log: 'identity',
  tables: [
    {
      name: 'revocations',
      key: ['kind', 'id'],
      columns: {
        kind: 'text',
        id: 'text',
        tenant_id: 'text',
        marked_at: 'timestamptz',
        tokens_before: 'bigint',
      },
    },
  ],
  on: {
    UserDisabled: (event: Of) => mark('user', event),
    UserDeleted: (event: Of) => mark('user', event),
    UserEnabled: ({ data }: Of) => [
      { table: 'revocations', change: remove({ kind: 'user', id: data.id }) },
    ],
    RolesChanged: (event: Projected<{ readonly id: string; readonly tokens_before?: number }>) =>
      event.data.tokens_before === undefined ? [] : mark('rank', event, event.data.tokens_before),
    SessionRevoked: (event: Projected<SessionFacts>) => mark('sid', event),
    AgentSuspended: (event: Of) => mark('agent', event),
    AgentDeleted: (event: Of) => mark('agent', event),
    AgentResumed: ({ data }: Of) => [
      { table: 'revocations', change: remove({ kind: 'agent', id: data.id }) },
    ],
    ApiKeyRevoked: (event: Of) => mark('key', event),
    AgentKeyRevoked: (event: Of) => mark('key', event),
    AgentSessionEnded: (event: Of) => mark('asid', event),
  },
};
