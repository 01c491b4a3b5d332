/** A session starts once, and only while what it rests on holds. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type {
  AgentSession,
  AgentSessionEvent,
  AgentSessionFacts,
  EndReason,
} from '../agent-session.ts';

export const startAgentSession = (
  facts: AgentSessionFacts,
  session: AgentSession,
  ended?: EndReason,
): Decision<AgentSessionEvent, 'already_created' | EndReason> => {
  if (session.status !== 'none') return refuse('already_created');
  return ended === undefined ? accept({ type: 'AgentSessionStarted', data: facts }) : refuse(ended);
};
