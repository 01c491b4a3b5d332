/**
 * An agent session: a period in which an agent acts for itself or on behalf of a user. Every event contains the whole
 * state, so the stream is loaded by its last event.
 */
import type { Stream } from '@cardea/event-store';
import type { ServiceGrant } from '../agents/service-grant.ts';

export type EndReason =
  | 'ended'
  | 'expired'
  | 'agent_suspended'
  | 'agent_deleted'
  | 'key_revoked'
  | 'user_inactive'
  | 'password_set'
  | 'sessions_revoked'
  | 'login_ended'
  | 'delegation_withdrawn';

export type AgentSessionFacts = {
  readonly id: string;
  readonly agent_id: string;
  /** The key that its capability tokens are bound to. */
  readonly key_id: string;
  readonly user_id: string | null;
  /** The authority of the session: the agent's own, the user's token, or a delegation. */
  readonly via: 'agent' | 'subject_token' | 'delegation';
  /** The user's epoch at the start. Sessions from releases before this field have none. */
  readonly user_epoch?: number | null;
  /** The login session of the user's token. */
  readonly subject_sid?: string | null;
  readonly services: readonly ServiceGrant[];
  /** Rises when services are reduced. */
  readonly epoch: number;
  readonly purpose: string | null;
  readonly app_id: string | null;
  /** The id of the last capability token, and of the token that it narrowed. */
  readonly cap_jti: string;
  readonly parent_jti: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly ended_at: string | null;
  readonly reason: EndReason | null;
  readonly request_hash: string | null;
};

export type AgentSessionEvent =
  | {
      readonly type: 'AgentSessionStarted';
      readonly concerns?: 'relay' | 'agent_sessions';
      readonly data: AgentSessionFacts;
    }
  | {
      readonly type: 'AgentSessionRenewed';
      readonly concerns?: 'relay' | 'agent_sessions' | 'revocation_rules';
      readonly data: AgentSessionFacts;
    }
  | { readonly type: 'AgentSessionEnded'; readonly data: AgentSessionFacts };

export type AgentSession =
  | { readonly status: 'none' }
  | ({ readonly status: 'known' } & AgentSessionFacts);

export const agentSessions: Stream<AgentSession, AgentSessionEvent> = {
  noun: 'agentsession',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (_before, { data }) => ({ status: 'known', ...data }),
};

export const isOpen = (session: AgentSessionFacts, now: Date): boolean =>
  session.ended_at === null && now < new Date(session.expires_at);

/** The facts that each event of an existing session repeats. */
export const factsOf = ({
  status: _status,
  ...facts
}: Extract<AgentSession, { status: 'known' }>): AgentSessionFacts => facts;
