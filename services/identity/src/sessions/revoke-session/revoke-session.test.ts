import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import { type SessionEvent, type SessionFacts, sessions } from '../session.ts';
import { type RevokeSession, revokeSession } from './revoke-session.ts';

const now = new Date('2026-01-01T10:00:00.000Z');
const sealed = { subject: 'user:ann', box: 'box' };
const facts: SessionFacts = {
  id: 'session',
  user_id: 'ann',
  user_epoch: 3,
  kind: 'login',
  client_id: null,
  consent_id: null,
  consent_epoch: null,
  scope: null,
  resource: null,
  salt: 'salt',
  seq: 1,
  rotated_at: '2026-01-01T09:00:00.000Z',
  auth_time: 0,
  amr: [],
  app_id: null,
  ip: sealed,
  user_agent: sealed,
  started_at: '2026-01-01T09:00:00.000Z',
  last_active_at: '2026-01-01T09:00:00.000Z',
  expires_at: '2026-01-01T11:00:00.000Z',
  ends_at: '2026-02-01T09:00:00.000Z',
  revoked_at: null,
  reason: null,
};
const known: SessionEvent = { type: 'SessionRefreshed', data: facts };
const revoked: SessionEvent = {
  type: 'SessionRevoked',
  data: { ...facts, revoked_at: now.toISOString(), reason: 'user' },
};
const revoke = (more: Partial<RevokeSession> = {}): RevokeSession => ({
  userId: 'ann',
  reason: 'user',
  now,
  validity: { user: { active: true, epoch: 3, keepSid: null }, tenantActive: true },
  ...more,
});

describe('revoking a session', () => {
  it('is done once', () => {
    given(sessions, known)
      .when((session) => revokeSession(revoke(), session))
      .accepts(revoked);
    given(sessions, known, revoked)
      .when((session) => revokeSession(revoke(), session))
      .accepts();
  });

  it("does not tell somebody else's session from one that never was", () => {
    given(sessions, known)
      .when((session) => revokeSession(revoke({ userId: 'bob' }), session))
      .refuses('not_found');
    given(sessions)
      .when((session) => revokeSession(revoke(), session))
      .refuses('not_found');
  });

  it('finds none that has died in another way', () => {
    const ended = revoke({
      validity: { user: { active: true, epoch: 4, keepSid: null }, tenantActive: true },
    });
    given(sessions, known)
      .when((session) => revokeSession(ended, session))
      .refuses('not_found');
    given(sessions, known)
      .when((session) => revokeSession(revoke({ now: new Date(facts.expires_at) }), session))
      .refuses('not_found');
  });
});
