/** A session starts once, within what its agent may reach, and only while its basis is valid. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { User } from '../../../accounts/accounts.module.ts';
import type { Session } from '../../../sessions/sessions.module.ts';
import type { Agent } from '../../agents/agent.ts';
import { normalised, type ServiceGrant } from '../../agents/service-grant.ts';
import type { Delegation } from '../../delegations/delegation.ts';
import type {
  AgentSession,
  AgentSessionEvent,
  AgentSessionFacts,
  EndReason,
} from '../agent-session.ts';
import { type Authority, authorityOf, type Reach } from '../authority.ts';
import { endedByUser, endedWithLogin } from '../basis.ts';

/** The basis of a session at its start. Without a user the agent acts for itself. */
export type StartBasis = {
  readonly agent: Agent;
  readonly user: User | undefined;
  /** Undefined if nobody could have given a delegation. */
  readonly delegation: Delegation | undefined;
  readonly login: Session | undefined;
};

export type StartRefusal =
  | 'already_created'
  | 'scope_not_granted'
  | Extract<Authority, { readonly refused: string }>['refused']
  | EndReason;

/** Services with named fields; or service names, which include every field that the agent may reach. */
export type WantedServices = readonly ServiceGrant[] | { readonly whole: readonly string[] };

/** `wanted` are the services of the session, which its facts omit. */
export type SessionToStart = {
  readonly facts: Omit<AgentSessionFacts, 'services'>;
  readonly wanted: WantedServices;
  readonly now: Date;
};

export const startAgentSession = (
  starting: SessionToStart,
  session: AgentSession,
  basis: StartBasis,
): Decision<AgentSessionEvent, StartRefusal> => {
  const { facts, now } = starting;
  const authority = authorityAtStart(starting, basis);
  if ('refused' in authority) return refuse(authority.refused);
  const { covered, missing } = reachOf(authority, starting.wanted);
  if (missing.length > 0) return refuse('scope_not_granted');
  if (session.status !== 'none') return refuse('already_created');
  const ended = endedMeanwhile(facts, basis, now);
  if (ended !== undefined) return refuse(ended);
  return accept({ type: 'AgentSessionStarted', data: { ...facts, services: covered } });
};

export const reachOf = (
  authority: Extract<Authority, { readonly granted: unknown }>,
  wanted: WantedServices,
): Reach =>
  'whole' in wanted ? authority.grantedWhole(wanted.whole) : authority.granted(normalised(wanted));

/** Computes what the agent may reach at this moment. */
export const authorityAtStart = (
  { facts: { via }, now }: SessionToStart,
  { agent, user: account, delegation = { status: 'none' } }: StartBasis,
): Authority => {
  const user = account && { account, delegation, needsDelegation: via === 'delegation' };
  return authorityOf({ agent, user, since: now, now });
};

const endedMeanwhile = (
  facts: SessionToStart['facts'],
  { user, login }: StartBasis,
  now: Date,
): EndReason | undefined =>
  user &&
  (endedByUser(facts, user) ?? (login === undefined ? undefined : endedWithLogin(login, now)));
