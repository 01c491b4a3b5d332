/** Issues new tokens for a session. Their rights never exceed those of the session, even after it was narrowed. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { isSame, missingFrom, type ServiceGrant } from '../../agents/service-grant.ts';
import {
  type AgentSession,
  type AgentSessionEvent,
  type AgentSessionFacts,
  factsOf,
  isOpen,
} from '../agent-session.ts';
import type { Authority } from '../authority.ts';

export type IssueTokens = {
  readonly agentId: string;
  readonly keyId: string;
  /** Undefined means all services of the session that are still granted. */
  readonly wanted: readonly ServiceGrant[] | undefined;
  readonly authority: Authority;
  /** The user has ended what the session depends on. */
  readonly isOver: boolean;
  readonly capJti: string;
  readonly now: Date;
};

export type IssueRefusal =
  | 'not_found'
  | 'session_ended'
  | 'attenuation_only'
  | 'scope_not_granted'
  | Extract<Authority, { refused: string }>['refused'];

export function issueTokens(
  command: IssueTokens,
  session: AgentSession,
): Decision<AgentSessionEvent, IssueRefusal> {
  if (session.status === 'none' || session.agent_id !== command.agentId) return refuse('not_found');
  // This is checked before the basis: a takeover of the account has ended both.
  if (!isOpen(session, command.now) || command.isOver) return refuse('session_ended');
  const { authority, wanted } = command;
  if ('refused' in authority) return refuse(authority.refused);
  if (wanted !== undefined && missingFrom(session.services, wanted).length > 0) {
    return refuse('attenuation_only');
  }
  const { covered, missing } = authority.granted(wanted ?? session.services);
  const isReduced = session.services.length > 0 && covered.length === 0;
  const isRefused = wanted === undefined ? isReduced : missing.length > 0;
  if (isRefused) return refuse('scope_not_granted');
  return accept({ type: 'AgentSessionRenewed', data: renewed(command, session, covered) });
}

const renewed = (
  { keyId, capJti }: IssueTokens,
  session: Extract<AgentSession, { status: 'known' }>,
  services: readonly ServiceGrant[],
): AgentSessionFacts => {
  const isNarrower = !isSame(session.services, services);
  return {
    ...factsOf(session),
    key_id: keyId,
    cap_jti: capJti,
    parent_jti: isNarrower ? session.cap_jti : null,
    services,
    epoch: isNarrower ? session.epoch + 1 : session.epoch,
  };
};
