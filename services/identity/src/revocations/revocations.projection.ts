/** Keeps `revocations`, from which the shared cache is filled again when it comes back empty. */
import type { RevocationKind } from '@cardea/auth';
import { ignoring, type RecordedEvent } from '@cardea/event-store';
import { orNull, projection, type TableChange, table } from '@cardea/read-models';
import type { UserEvent } from '../accounts/accounts.module.ts';
import type { AgentEvent, AgentKeyEvent, AgentSessionEvent } from '../agents/agents.module.ts';
import type { ApiKeyEvent } from '../credentials/credentials.module.ts';
import type { SessionEvent } from '../sessions/sessions.module.ts';

type Event =
  | UserEvent
  | SessionEvent
  | AgentEvent
  | ApiKeyEvent
  | AgentKeyEvent
  | AgentSessionEvent;
type Ending = Pick<RecordedEvent, 'metadata' | 'time'> & { readonly data: { readonly id: string } };

const rows = table('revocations', {
  key: ['kind', 'id'],
  columns: {
    kind: 'text',
    id: 'text',
    tenant_id: 'text',
    marked_at: 'timestamptz',
    tokens_before: orNull('bigint'),
  },
});

const mark = (
  kind: RevocationKind,
  { data, metadata, time }: Ending,
  tokensBefore: number | null = null,
): readonly TableChange[] => [
  rows.put({
    kind,
    id: data.id,
    tenant_id: metadata.tenantId,
    marked_at: time.toISOString(),
    tokens_before: tokensBefore,
  }),
];

const NOTHING_ENDS = ignoring(
  'no token is taken back by it, or not by an id of its own',
  'UserAbandoned',
  'UserRegistered',
  'PasswordSet',
  'PasswordRehashed',
  'EmailVerified',
  'ProfileChanged',
  'UserVouched',
  'VouchWithdrawn',
  'SessionsRevoked',
  'SessionStarted',
  'SessionRefreshed',
  'SessionRefreshRepeated',
  'AgentCreated',
  'AgentChanged',
  'AgentAbandoned',
  'ApiKeyIssued',
  'ApiKeyRotated',
  'AgentKeyIssued',
  'AgentKeyRotated',
  'AgentSessionStarted',
  'AgentSessionRenewed',
);

export const revocationsProjection = projection<Event>()({
  name: 'revocations',
  log: 'identity',
  tables: [rows],
  on: {
    UserDisabled: (event) => mark('user', event),
    UserDeleted: (event) => mark('user', event),
    UserEnabled: ({ data }) => [rows.remove({ kind: 'user', id: data.id })],
    RolesChanged: (event) => {
      const { tokens_before } = event.data;
      return tokens_before === undefined ? [] : mark('rank', event, tokens_before);
    },
    SessionRevoked: (event) => mark('sid', event),
    AgentSuspended: (event) => mark('agent', event),
    AgentDeleted: (event) => mark('agent', event),
    AgentResumed: ({ data }) => [rows.remove({ kind: 'agent', id: data.id })],
    ApiKeyRevoked: (event) => mark('key', event),
    AgentKeyRevoked: (event) => mark('key', event),
    AgentSessionEnded: (event) => mark('asid', event),
    ...NOTHING_ENDS,
  },
});
