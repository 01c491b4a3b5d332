import { describe, expect, it } from 'vitest';
import { originOf, unreadable } from './create.ts';

describe('what an agent asks', () => {
  it('approval 19 is refused where nothing readable is left of it', () => {
    const body = { agent_id: 'b\u200Bot', user_id: 'ann', action: '\u200B', reason: 'fine' };
    expect(unreadable(body)).toEqual(['agent_id', 'action']);
  });
});

describe('who may ask', () => {
  const agent = {
    kind: 'agent',
    id: 'bot',
    tenantId: 't',
    via: 'token',
    userId: 'ann',
    agentSessionId: 's',
    keyId: null,
    appId: null,
  } as const;

  const LISTED = ['lea', 'role:admin'];

  it('is an agent for its own user, its owner and its approvers and nobody else', () => {
    const of = (agent_id: string, user_id: string) =>
      originOf(agent, { agent_id, user_id }, { ownerUserId: 'olga', approvers: LISTED });
    expect(of('bot', 'ann')).toEqual({ origin: 'agent' });
    expect(of('bot', 'olga')).toEqual({ origin: 'agent' });
    expect(of('bot', 'lea')).toEqual({ origin: 'agent' });
    expect(of('bot', 'role:admin')).toEqual({ origin: 'agent' });
    expect(of('bot', 'role:owner')).toEqual({ refused: 'user_not_allowed' });
    expect(of('bot', 'bob')).toEqual({ refused: 'user_not_allowed' });
    expect(of('other', 'ann')).toEqual({ refused: 'agent_mismatch' });
  });
});
