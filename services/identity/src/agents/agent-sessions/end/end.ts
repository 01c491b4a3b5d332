/** A session ends once, with the first reason. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import {
  type AgentSession,
  type AgentSessionEvent,
  type EndReason,
  factsOf,
} from '../agent-session.ts';

export function endAgentSession(
  { reason, now }: { readonly reason: EndReason; readonly now: Date },
  session: AgentSession,
): Decision<AgentSessionEvent, 'not_found' | 'not_expired'> {
  if (session.status === 'none') return refuse('not_found');
  if (session.ended_at !== null) return accept();
  if (reason === 'expired' && now < new Date(session.expires_at)) return refuse('not_expired');
  const ended_at = now.toISOString();
  return accept({ type: 'AgentSessionEnded', data: { ...factsOf(session), ended_at, reason } });
}
