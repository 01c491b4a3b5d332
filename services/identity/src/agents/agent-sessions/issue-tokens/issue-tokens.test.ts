import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import type { User } from '../../../accounts/users/user.ts';
import type { Agent } from '../../agents/agent.ts';
import type { Delegation } from '../../delegations/delegation.ts';
import { type AgentSessionEvent, type AgentSessionFacts, agentSessions } from '../agent-session.ts';
import { authorityOf } from '../authority.ts';
import { endAgentSession } from '../end/end.ts';
import { issueTokens } from './issue-tokens.ts';

const NOW = new Date('2026-01-01T00:10:00Z');
const START = '2026-01-01T00:00:00.000Z';
const reach = (...fields: string[]) => [{ service_name: 'warehouse', fields }];

const facts: AgentSessionFacts = {
  id: 's1',
  agent_id: 'a1',
  key_id: 'k1',
  user_id: 'u1',
  via: 'subject_token',
  services: reach('username', 'password'),
  epoch: 0,
  purpose: null,
  app_id: null,
  cap_jti: 'j1',
  parent_jti: null,
  created_at: START,
  expires_at: '2026-01-01T01:00:00.000Z',
  ended_at: null,
  reason: null,
  request_hash: null,
};
const started: AgentSessionEvent = { type: 'AgentSessionStarted', data: facts };

const agent = (status: 'active' | 'suspended', ...fields: string[]): Agent => ({
  status,
  agent: {
    id: 'a1',
    name: 'a',
    description: null,
    owner_user_id: null,
    app_id: null,
    services: reach(...fields),
    created_at: START,
  },
  nameHash: 'h',
  requestHash: null,
});
const delegated = (...fields: string[]): Delegation => ({
  status: 'granted',
  requestHash: null,
  id: 'd1',
  user_id: 'u1',
  agent_id: 'a1',
  services: reach(...fields),
  created_at: START,
  expires_at: '2026-01-01T00:30:00.000Z',
});
const NONE: Delegation = { status: 'none' };
const account = (status: 'active' | 'disabled', reclaimedAt: string | null = null) =>
  ({ status, reclaimedAt }) as User;

type More = {
  readonly agent?: Agent;
  readonly delegation?: Delegation;
  readonly account?: User;
  readonly needsDelegation?: boolean;
  readonly now?: Date;
  readonly wanted?: ReturnType<typeof reach>;
  readonly agentId?: string;
  readonly isOver?: boolean;
};
const issue = (more: More = {}) => ({
  agentId: more.agentId ?? 'a1',
  keyId: 'k2',
  wanted: more.wanted,
  isOver: more.isOver ?? false,
  capJti: 'j2',
  now: more.now ?? NOW,
  authority: authorityOf({
    agent: more.agent ?? agent('active', '*'),
    user: {
      account: more.account ?? account('active'),
      delegation: more.delegation ?? NONE,
      needsDelegation: more.needsDelegation ?? false,
    },
    since: new Date(START),
    now: more.now ?? NOW,
  }),
});
const decide = (more: More = {}) =>
  given(agentSessions, started).when((session) => issueTokens(issue(more), session));
const renewed = (changes: Partial<AgentSessionFacts>): AgentSessionEvent => ({
  type: 'AgentSessionRenewed',
  data: { ...facts, key_id: 'k2', cap_jti: 'j2', ...changes },
});

describe('the tokens of an agent session', () => {
  it('are issued anew within the session, bound to the key that asks', () => {
    decide().accepts(renewed({}));
    decide({ wanted: reach('password', 'username') }).accepts(
      renewed({ services: reach('password', 'username') }),
    );
  });

  it('are issued for a session of no services, and refused to one that has lost all of its services', () => {
    const withoutServices: AgentSessionEvent = {
      type: 'AgentSessionStarted',
      data: { ...facts, services: [] },
    };
    const ofNothing = given(agentSessions, withoutServices).when((session) =>
      issueTokens(issue(), session),
    );
    expect(ofNothing.decision.accepted).toBe(true);
    decide({ agent: agent('active', 'region') }).refuses('scope_not_granted');
  });

  it('identity 14 grow narrower with a new epoch, and never wider', () => {
    decide({ wanted: reach('username') }).accepts(
      renewed({ services: reach('username'), epoch: 1, parent_jti: 'j1' }),
    );
    decide({ wanted: reach('username', 'region') }).refuses('attenuation_only');
  });

  it('identity 14 follow the grant and the delegation as they stand now', () => {
    decide({ agent: agent('active', 'username') }).accepts(
      renewed({ services: reach('username'), epoch: 1, parent_jti: 'j1' }),
    );
    decide({ delegation: delegated('password') }).accepts(
      renewed({ services: reach('password'), epoch: 1, parent_jti: 'j1' }),
    );
    decide({ delegation: delegated('region') }).refuses('scope_not_granted');
    decide({ agent: agent('active', 'username'), wanted: reach('password') }).refuses(
      'scope_not_granted',
    );
  });

  it('identity 14 are refused to the suspended, for the disabled, without the delegation', () => {
    decide({ agent: agent('suspended', '*') }).refuses('invalid_agent_key');
    decide({ account: account('disabled') }).refuses('user_inactive');
    decide({ needsDelegation: true }).refuses('delegation_required');
    const late = new Date('2026-01-01T00:40:00Z');
    decide({ delegation: delegated('*'), needsDelegation: true, now: late }).refuses(
      'delegation_required',
    );
    // The previous owner of the account gave this delegation.
    decide({
      ...{ account: account('active', START), delegation: delegated('*'), needsDelegation: true },
    }).refuses('delegation_required');
    const withdrawn = (withdrawnAt: string): Delegation => ({
      status: 'withdrawn',
      id: 'd1',
      user_id: 'u1',
      withdrawnAt,
    });
    decide({ delegation: withdrawn('2026-01-01T00:05:00Z') }).refuses('delegation_required');
    // The user sent their own token after the withdrawal, so they meant to allow the agent.
    decide({ delegation: withdrawn('2025-12-31T23:00:00Z') }).accepts(renewed({}));
  });

  it('are refused to other agents, and once the session has ended or run out', () => {
    decide({ agentId: 'a2' }).refuses('not_found');
    decide({ now: new Date('2026-01-01T01:00:00Z') }).refuses('session_ended');
    const end = { reason: 'ended', now: NOW } as const;
    const ended = given(agentSessions, started).when((session) => endAgentSession(end, session));
    expect(issueTokens(issue(), ended.state)).toMatchObject({ reason: 'session_ended' });
    // A password reset may also end the delegation, some moments later.
    decide({ isOver: true, needsDelegation: true }).refuses('session_ended');
  });
});

describe('the end of an agent session', () => {
  const end = (reason: 'ended' | 'expired', now = NOW) =>
    given(agentSessions, started).when((session) => endAgentSession({ reason, now }, session));

  it('comes once, and keeps its first reason', () => {
    const ended = { ...facts, ended_at: NOW.toISOString(), reason: 'ended' as const };
    end('ended').accepts({ type: 'AgentSessionEnded', data: ended });
    const again = endAgentSession({ reason: 'expired', now: NOW }, end('ended').state);
    expect(again).toEqual({ accepted: true, events: [] });
  });

  it('is not told of a session that has time left', () => {
    end('expired').refuses('not_expired');
    expect(end('expired', new Date(facts.expires_at)).state).toMatchObject({ reason: 'expired' });
  });
});
