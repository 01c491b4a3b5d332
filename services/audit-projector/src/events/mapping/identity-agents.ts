/** Rows for the events of identity about agents, their keys, delegations and sessions. */
import type { IdentityEventData, IdentityEventType } from '@cardea/contracts';
import type { Details, Happened, Mapped, Rule } from '../audit-row.ts';

type Rules = { readonly [Type in IdentityEventType]: Rule<IdentityEventData<Type>> };
type Data<Type extends IdentityEventType> = IdentityEventData<Type>;

type AgentData = Data<'agent.created'>;
const agentRule = (
  action: string,
  type: string,
  details: (data: AgentData) => Details = ({ services }) => ({ services }),
): Rule<AgentData> => ({
  category: 'agent',
  says: ({ data }) => ({
    type,
    action,
    target: { type: 'agent', id: data.id },
    details: details(data),
  }),
});

const keyRule = (action: string, past: string): Rule<{ id: string; agent_id: string }> => ({
  category: 'agent',
  says: ({ data }) => ({
    type: `agent.key_${past}`,
    action,
    target: { type: 'agent_key', id: data.id },
    details: { agent_id: data.agent_id },
  }),
});

export const agents = {
  'agent.created': agentRule('create', 'agent.created'),
  'agent.updated': {
    category: 'agent',
    says: ({ data }: Happened<Data<'agent.updated'>>): Mapped => ({
      type: 'agent.updated',
      action: 'update',
      target: { type: 'agent', id: data.id },
      details: { changed: data.changed, services: data.services },
    }),
  },
  'agent.suspended': agentRule('suspend', 'agent.suspended', () => ({})),
  'agent.resumed': agentRule('resume', 'agent.resumed', () => ({})),
  'agent.deleted': {
    category: 'agent',
    says: ({ data }: Happened<Data<'agent.deleted'>>): Mapped => ({
      type: 'agent.deleted',
      action: 'delete',
      target: { type: 'agent', id: data.id },
    }),
  },
  'agent_key.created': keyRule('create', 'created'),
  'agent_key.rotated': keyRule('rotate', 'rotated'),
  'agent_key.revoked': keyRule('revoke', 'revoked'),
  'delegation.granted': delegation('grant', 'granted'),
  'delegation.withdrawn': delegation('revoke', 'withdrawn'),
  'agent_session.started': session('start', 'agent.session_started'),
  'agent_session.renewed': session('issue', 'agent.token_issued'),
  'agent_session.ended': {
    category: 'agent',
    says: ({ data }: Happened<Data<'agent_session.ended'>>): Mapped => ({
      ...sessionSaid('end', 'agent.session_ended', data),
      details: { ...sessionDetails(data), reason: data.reason },
    }),
  },
} satisfies Partial<Rules>;

function delegation(action: string, past: string): Rule<Data<'delegation.withdrawn'>> {
  return {
    category: 'agent',
    says: ({ data }) => ({
      type: `agent.delegation_${past}`,
      action,
      target: { type: 'agent', id: data.agent_id },
      details: { services: data.services },
    }),
  };
}

type SessionData = Data<'agent_session.renewed'>;
const sessionDetails = ({ agent_id, user_id, services }: SessionData): Details => ({
  agent_id,
  user_id,
  services,
});
const sessionSaid = (action: string, type: string, data: SessionData): Mapped => ({
  type,
  action,
  target: { type: 'agent_session', id: data.id },
  details: sessionDetails(data),
});
function session(action: string, type: string): Rule<SessionData> {
  return { category: 'agent', says: ({ data }) => sessionSaid(action, type, data) };
}
