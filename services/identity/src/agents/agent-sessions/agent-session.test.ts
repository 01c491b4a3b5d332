import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type AgentSessionEvent, type AgentSessionFacts, agentSessions } from './agent-session.ts';
import { endAgentSession } from './end/end.ts';
import { startAgentSession } from './start/start.ts';

const ends = new Date('2026-01-01T11:00:00.000Z');
const facts: AgentSessionFacts = {
  id: 'session',
  agent_id: 'agent',
  key_id: 'key',
  user_id: null,
  via: 'agent',
  services: [],
  epoch: 0,
  purpose: null,
  app_id: null,
  cap_jti: 'jti',
  parent_jti: null,
  created_at: '2026-01-01T10:00:00.000Z',
  expires_at: ends.toISOString(),
  ended_at: null,
  reason: null,
  request_hash: null,
};
const { services: _none, ...toStart } = facts;
const starting = { facts: toStart, wanted: [], now: new Date(facts.created_at) };
const agent = {
  status: 'active',
  agent: {
    id: 'agent',
    name: 'agent',
    description: null,
    owner_user_id: null,
    app_id: null,
    services: [],
    created_at: facts.created_at,
  },
  nameHash: 'hash',
  requestHash: null,
} as const;
const basis = { agent, user: undefined, delegation: undefined, login: undefined };
const started: AgentSessionEvent = { type: 'AgentSessionStarted', data: facts };
const ended = (reason: AgentSessionFacts['reason'], at: Date): AgentSessionEvent => ({
  type: 'AgentSessionEnded',
  data: { ...facts, ended_at: at.toISOString(), reason },
});
const before = new Date(ends.getTime() - 1);

describe('a session of an agent', () => {
  it('starts once', () => {
    given(agentSessions)
      .when((session) => startAgentSession(starting, session, basis))
      .accepts(started);
    given(agentSessions, started)
      .when((session) => startAgentSession(starting, session, basis))
      .refuses('already_created');
  });

  it('starts within what its agent may reach, and for an active agent', () => {
    const wanted = [{ service_name: 'erp', fields: ['api_key'] }];
    given(agentSessions)
      .when((session) => startAgentSession({ ...starting, wanted }, session, basis))
      .refuses('scope_not_granted');
    given(agentSessions)
      .when((session) => {
        const suspended = { ...agent, status: 'suspended' } as const;
        return startAgentSession(starting, session, { ...basis, agent: suspended });
      })
      .refuses('invalid_agent_key');
  });

  it('ends once, for the first reason that came', () => {
    given(agentSessions, started)
      .when((session) => endAgentSession({ reason: 'key_revoked', now: before }, session))
      .accepts(ended('key_revoked', before));
    given(agentSessions, started, ended('key_revoked', before))
      .when((session) => endAgentSession({ reason: 'ended', now: ends }, session))
      .accepts();
    given(agentSessions)
      .when((session) => endAgentSession({ reason: 'ended', now: before }, session))
      .refuses('not_found');
  });

  it('has expired at its end and not a moment before', () => {
    given(agentSessions, started)
      .when((session) => endAgentSession({ reason: 'expired', now: before }, session))
      .refuses('not_expired');
    given(agentSessions, started)
      .when((session) => endAgentSession({ reason: 'expired', now: ends }, session))
      .accepts(ended('expired', ends));
  });
});
