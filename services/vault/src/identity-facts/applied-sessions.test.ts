import type { IntegrationEvent } from '@cardea/contracts';
import { describe, expect, it } from 'vitest';
import { type AppliedEvent, appliedSessions } from './applied-sessions.ts';

const ASKED = {
  tenantId: 't',
  sessionId: 's',
  tokenSessionId: 's',
  agentId: 'a',
  userId: null,
};
const MINUTE_MS = 60_000;

function fixture() {
  let nowMs = 0;
  const sessions = appliedSessions({ monotonicMs: () => nowMs });
  return {
    apply: (type: string, position: bigint, data: object = {}) =>
      sessions.apply([event(type, position, data)]),
    found: (floor = 0n, session = 0n, asked: object = {}) =>
      sessions.find({ ...ASKED, ...asked }, { floor, session })?.tokenEpoch,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

const event = (type: string, position: bigint, data: object) =>
  ({
    type,
    tenantId: 't',
    position: String(position),
    data: { id: 's', agent_id: 'a', user_id: null, epoch: 0, expires_at: '2026-01-01', ...data },
  }) as unknown as IntegrationEvent as AppliedEvent;

describe('a session that this process applied', () => {
  it('is used while no later change of it is announced', () => {
    const { apply, found } = fixture();
    expect(found()).toBeUndefined();
    apply('agent_session.started', 7n);
    expect(found(6n, 0n)).toBe(0);
    expect(found(6n, 7n)).toBe(0);
    expect(found(6n, 8n)).toBeUndefined();
    apply('agent_session.renewed', 8n, { epoch: 1 });
    expect(found(6n, 8n)).toBe(1);
  });

  it('is not used where changes after it may be announced nowhere', () => {
    const { apply, found } = fixture();
    apply('agent_session.started', 7n);
    expect(found(7n)).toBeUndefined();
    expect(found(70n)).toBeUndefined();
  });

  it('is of its tenant, and says nothing to the token of another session', () => {
    const { apply, found } = fixture();
    apply('agent_session.started', 7n);
    expect(found(0n, 0n, { tenantId: 'u' })).toBeUndefined();
    expect(found(0n, 0n, { tokenSessionId: 'other' })).toBeUndefined();
  });

  it('stays as the newest event says, though events of a parked stream come late', () => {
    const { apply, found } = fixture();
    apply('agent_session.renewed', 8n, { epoch: 1 });
    apply('agent_session.started', 7n);
    expect(found()).toBe(1);
  });

  it('is dropped at its end, at the end of a tenant, and after a minute', () => {
    const { apply, found, pass } = fixture();
    for (const type of ['agent_session.ended', 'tenant.deleted']) {
      apply('agent_session.started', 7n);
      expect(found()).toBe(0);
      apply(type, 9n);
      expect(found()).toBeUndefined();
    }
    apply('agent_session.started', 10n);
    pass(MINUTE_MS);
    expect(found()).toBeUndefined();
  });
});
