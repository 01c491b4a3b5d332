/** A session starts once. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { AgentSession, AgentSessionEvent, AgentSessionFacts } from '../agent-session.ts';

export const startAgentSession = (
  facts: AgentSessionFacts,
  session: AgentSession,
): Decision<AgentSessionEvent, 'already_created'> =>
  session.status === 'none'
    ? accept({ type: 'AgentSessionStarted', data: facts })
    : refuse('already_created');
