/**
 * The one table of events that end credentials before their expiry. It maps each event to entries of the revocation
 * lists. The projection stores entries that name an id of the event itself. The other entries are looked up at the time
 * of the event, and are read from other tables when the lists are refilled.
 */
import type { FactKind, RevocationKind } from '@cardea/auth';
import type { ConcerningType, DomainEvent } from '@cardea/event-store';
import { signInsBefore, type UserEvent } from '../accounts/accounts.module.ts';
import type {
  AgentEvent,
  AgentKeyEvent,
  AgentSessionEvent,
  DelegationEvent,
} from '../agents/agents.module.ts';
import type { ConsentEvent } from '../consents/consents.module.ts';
import type { ApiKeyEvent } from '../credentials/credentials.module.ts';
import type { SessionEvent } from '../sessions/sessions.module.ts';
import type { ApplicationEvent, TenantClosed } from '../workspaces/workspaces.module.ts';

export type RevokingEvent =
  | UserEvent
  | SessionEvent
  | AgentEvent
  | ApiKeyEvent
  | AgentKeyEvent
  | AgentSessionEvent
  | DelegationEvent
  | ConsentEvent
  | ApplicationEvent
  | TenantClosed;

export type Revocation =
  /** An entry of a list. In a timed list it applies to tokens that were issued before a time. */
  | { readonly list: RevocationKind; readonly id: string; readonly before?: number }
  /** Removes an entry. */
  | { readonly lift: RevocationKind; readonly id: string }
  /** The stamps of a key that its last rotation invalidated. Cached responses under them are void. */
  | { readonly stampsOf: string; readonly kind: 'api_key' | 'agent_key' }
  /** Login sessions of an earlier epoch, except the one that is kept. */
  | { readonly loginsOf: string; readonly epoch: number | null; readonly keep: string | null }
  /** API keys, agents, agent keys and consents that a user created or granted before that time. */
  | { readonly madeBy: string; readonly until: string }
  /** Agent sessions that ended because of their user, their login or their delegation. */
  | { readonly agentSessionsOf: string }
  | { readonly agentSessionsBy: string }
  | { readonly agentSessionsOfDelegation: { readonly userId: string; readonly agentId?: string } }
  /** Vault and approval have cached copies of the fact, which may be outdated from now on. */
  | { readonly changed: FactKind; readonly id: string; readonly narrows: boolean };

type DataOf<E extends DomainEvent, Type> = E extends DomainEvent
  ? Type extends E['type']
    ? E['data']
    : never
  : never;
export type RevocationRules = {
  readonly [T in ConcerningType<RevokingEvent, 'revocation_rules'>]: (
    data: DataOf<RevokingEvent, T>,
  ) => readonly Revocation[];
};

const signInsOf = (id: string, at: string): Revocation => ({
  list: 'signin',
  id,
  before: signInsBefore(at),
});

const endedTokens = (id: string, before: number | undefined): readonly Revocation[] =>
  before === undefined ? [] : [{ list: 'rank', id, before }];

const closed = (id: string, epoch: number | null): readonly Revocation[] => [
  { list: 'user', id },
  { loginsOf: id, epoch, keep: null },
  { agentSessionsOf: id },
  { changed: 'user', id, narrows: true },
];

export const REVOCATION_RULES: RevocationRules = {
  TenantClosed: ({ id }) => [{ list: 'tenant', id }],
  // Credentials that ended with this event stay ended when the user is enabled again.
  UserDisabled: ({ id, epoch, at }) => [...closed(id, epoch), signInsOf(id, at)],
  UserDeleted: ({ id }) => closed(id, null),
  UserEnabled: ({ id }) => [
    { lift: 'user', id },
    { changed: 'user', id, narrows: false },
  ],
  UserVouched: ({ id }) => [{ changed: 'user', id, narrows: false }],
  VouchWithdrawn: ({ id }) => [{ changed: 'user', id, narrows: true }],
  RolesChanged: ({ id, tokens_before: before }) => endedTokens(id, before),
  PasswordSet: ({ id, by, epoch, keep_sid: keep, at }) =>
    by === 'created'
      ? []
      : [signInsOf(id, at), { loginsOf: id, epoch, keep }, { agentSessionsOf: id }],
  EmailChanged: ({ id, epoch, keep_sid: keep, at }) => [
    signInsOf(id, at),
    { loginsOf: id, epoch, keep },
    { agentSessionsOf: id },
  ],
  AccountReclaimed: ({ id, epoch, tokens_before: before, at }) => [
    { list: 'rank', id, before },
    { loginsOf: id, epoch, keep: null },
    { agentSessionsOf: id },
    { madeBy: id, until: at },
  ],
  // Includes delegated sessions whose user's sign-in has not ended.
  DeletionScheduled: ({ id }) => [{ agentSessionsOfDelegation: { userId: id } }],
  SessionsRevoked: ({ id, epoch, keep_sid: keep, at }) => [
    signInsOf(id, at),
    { loginsOf: id, epoch, keep },
    { agentSessionsOf: id },
  ],
  SessionRevoked: ({ id }) => [{ list: 'sid', id }, { agentSessionsBy: id }],
  AgentSuspended: ({ id }) => [{ list: 'agent', id }],
  AgentDeleted: ({ id }) => [{ list: 'agent', id }],
  AgentResumed: ({ id }) => [{ lift: 'agent', id }],
  // The owner of an agent determines what it may reach, so a new owner counts as a reduction.
  AgentChanged: ({ id, services, owner_user_id: owner }) =>
    services === undefined && owner === undefined ? [] : [{ changed: 'agent', id, narrows: true }],
  ConsentRevoked: ({ id, epoch }) => [{ list: 'consent', id: `${id}.${epoch}` }],
  ApplicationDeleted: ({ id }) => [{ list: 'key', id }],
  ApplicationChanged: ({ id, tokens_before: before }) => endedTokens(id, before),
  ClientSecretRotated: ({ id, tokens_before: before }) => endedTokens(id, before),
  ApiKeyRotated: ({ id }) => [{ stampsOf: id, kind: 'api_key' }],
  ApiKeyRevoked: ({ id }) => [{ list: 'key', id }],
  AgentKeyRotated: ({ id }) => [{ stampsOf: id, kind: 'agent_key' }],
  AgentKeyRevoked: ({ id }) => [{ list: 'key', id }],
  DelegationWithdrawn: ({ user_id: userId, agent_id: agentId }) => [
    { agentSessionsOfDelegation: { userId, agentId } },
  ],
  AgentSessionEnded: ({ id }) => [{ list: 'asid', id }],
  // Only a token that was narrowed has a parent.
  AgentSessionRenewed: ({ id, parent_jti }) =>
    parent_jti === null ? [] : [{ changed: 'agent_session', id, narrows: true }],
};

/** Returns the entries of events that were appended together; none for streams outside the table. */
export function revocationsOf(events: readonly DomainEvent[]): readonly Revocation[] {
  const rules: { readonly [type: string]: unknown } = REVOCATION_RULES;
  const all = events.flatMap(({ type, data }): readonly Revocation[] => {
    const rule = rules[type];
    return typeof rule === 'function' ? rule(data) : [];
  });
  // A copy is announced as outdated once, and as narrowed if any of the events narrowed it.
  const changes = all.filter((one) => 'changed' in one);
  const last = changes.at(-1);
  if (last === undefined) return all;
  const narrows = changes.some((one) => one.narrows);
  return [...all.filter((one) => !('changed' in one)), { ...last, narrows }];
}
