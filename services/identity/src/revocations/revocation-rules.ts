/**
 * The one table of what ends a credential before its time: for each event the entries of the revocation
 * lists that follow from it. The projection keeps those that name an id of the event's own; the rest is
 * found at the moment of the event, and follows from other tables when the lists are filled again.
 */
import type { FactKind, RevocationKind } from '@cardea/auth';
import { type DomainEvent, type Ignored, ignoring } from '@cardea/event-store';
import type { UserEvent } from '../accounts/accounts.module.ts';
import type {
  AgentEvent,
  AgentKeyEvent,
  AgentSessionEvent,
  DelegationEvent,
} from '../agents/agents.module.ts';
import type { ApiKeyEvent } from '../credentials/credentials.module.ts';
import type { SessionEvent } from '../sessions/sessions.module.ts';

export type RevokingEvent =
  | UserEvent
  | SessionEvent
  | AgentEvent
  | ApiKeyEvent
  | AgentKeyEvent
  | AgentSessionEvent
  | DelegationEvent;

export type Revocation =
  /** An entry of a list; of `rank` for the tokens that were issued before a time. */
  | { readonly list: RevocationKind; readonly id: string; readonly before?: number }
  /** The entry is taken back. */
  | { readonly lift: RevocationKind; readonly id: string }
  /** Of a key: whatever was recognised before its last rotation. */
  | { readonly stampsOf: string; readonly kind: 'api_key' | 'agent_key' }
  /** Login sessions of an earlier epoch, but the one that is kept. */
  | { readonly loginsOf: string; readonly epoch: number | null; readonly keep: string | null }
  /** Agent sessions that their user, their login or their delegation has ended. */
  | { readonly agentSessionsOf: string }
  | { readonly agentSessionsBy: string }
  | { readonly agentSessionsOfDelegation: { readonly userId: string; readonly agentId: string } }
  /** Vault and approval keep copies of it, which may be too old from here on. */
  | { readonly changed: FactKind; readonly id: string; readonly narrows: boolean };

type DataOf<E extends DomainEvent, Type> = E extends DomainEvent
  ? Type extends E['type']
    ? E['data']
    : never
  : never;
export type RevocationRules = {
  readonly [T in RevokingEvent['type']]:
    | ((data: DataOf<RevokingEvent, T>) => readonly Revocation[])
    | Ignored;
};

const closed = (id: string, epoch: number | null): readonly Revocation[] => [
  { list: 'user', id },
  { loginsOf: id, epoch, keep: null },
  { agentSessionsOf: id },
  { changed: 'user', id, narrows: true },
];

export const REVOCATION_RULES: RevocationRules = {
  UserDisabled: ({ id, epoch }) => closed(id, epoch),
  UserDeleted: ({ id }) => closed(id, null),
  UserEnabled: ({ id }) => [
    { lift: 'user', id },
    { changed: 'user', id, narrows: false },
  ],
  UserVouched: ({ id }) => [{ changed: 'user', id, narrows: false }],
  VouchWithdrawn: ({ id }) => [{ changed: 'user', id, narrows: true }],
  RolesChanged: ({ id, tokens_before: before }) =>
    before === undefined ? [] : [{ list: 'rank', id, before }],
  PasswordSet: ({ id, by, epoch, keep_sid: keep }) =>
    by === 'created' ? [] : [{ loginsOf: id, epoch, keep }, { agentSessionsOf: id }],
  SessionsRevoked: ({ id, epoch, keep_sid: keep }) => [
    { loginsOf: id, epoch, keep },
    { agentSessionsOf: id },
  ],
  SessionRevoked: ({ id }) => [{ list: 'sid', id }, { agentSessionsBy: id }],
  AgentSuspended: ({ id }) => [{ list: 'agent', id }],
  AgentDeleted: ({ id }) => [{ list: 'agent', id }],
  AgentResumed: ({ id }) => [{ lift: 'agent', id }],
  // Who answers for an agent decides what it may have, so a new owner counts as less allowed.
  AgentChanged: ({ id, services, owner_user_id: owner }) =>
    services === undefined && owner === undefined ? [] : [{ changed: 'agent', id, narrows: true }],
  ApiKeyRotated: ({ id }) => [{ stampsOf: id, kind: 'api_key' }],
  ApiKeyRevoked: ({ id }) => [{ list: 'key', id }],
  AgentKeyRotated: ({ id }) => [{ stampsOf: id, kind: 'agent_key' }],
  AgentKeyRevoked: ({ id }) => [{ list: 'key', id }],
  DelegationWithdrawn: ({ user_id: userId, agent_id: agentId }) => [
    { agentSessionsOfDelegation: { userId, agentId } },
  ],
  AgentSessionEnded: ({ id }) => [{ list: 'asid', id }],
  // Only a narrower token names the one that it came from.
  AgentSessionRenewed: ({ id, parent_jti }) =>
    parent_jti === null ? [] : [{ changed: 'agent_session', id, narrows: true }],
  ...ignoring(
    'no credential ends with it',
    'UserAbandoned',
    'UserRegistered',
    'PasswordRehashed',
    'EmailVerified',
    'ProfileChanged',
    'SessionStarted',
    'SessionRefreshed',
    'SessionRefreshRepeated',
    'AgentCreated',
    'AgentAbandoned',
    'ApiKeyIssued',
    'AgentKeyIssued',
    'AgentSessionStarted',
    'DelegationGranted',
  ),
};

/** Of events that came together; nothing for those of streams that the table does not name. */
export function revocationsOf(events: readonly DomainEvent[]): readonly Revocation[] {
  const rules: { readonly [type: string]: unknown } = REVOCATION_RULES;
  const all = events.flatMap(({ type, data }): readonly Revocation[] => {
    const rule = rules[type];
    return typeof rule === 'function' ? rule(data) : [];
  });
  // A copy is told to be too old once, and as narrowed where any of the events narrowed it.
  const changes = all.filter((one) => 'changed' in one);
  const last = changes.at(-1);
  if (last === undefined) return all;
  const narrows = changes.some((one) => one.narrows);
  return [...all.filter((one) => !('changed' in one)), { ...last, narrows }];
}
