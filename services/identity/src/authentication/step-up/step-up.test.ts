import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type ExistingUser, NO_SECOND_FACTORS } from '../../accounts/accounts.module.ts';
import { type SessionEvent, sessions } from '../../sessions/sessions.module.ts';
import { isEnough, stepUp } from './step-up.ts';

const now = new Date('2026-01-01T10:00:00Z');
const sealed = { subject: 'user:ann', box: 'box' };
type SessionFacts = Extract<SessionEvent, { type: 'SessionRefreshed' }>['data'];
const facts: SessionFacts = {
  ...{ id: 's1', user_id: 'ann', user_epoch: 0, client_id: null },
  kind: 'login',
  ...{ consent_id: null, consent_epoch: null, scope: null, resource: null, salt: '', seq: 3 },
  ...{ rotated_at: '', auth_time: 100, amr: ['pwd'], app_id: null, ip: sealed },
  ...{ user_agent: sealed, started_at: '', last_active_at: '', revoked_at: null, reason: null },
  ...{ expires_at: '2026-02-01T00:00:00Z', ends_at: '2026-02-01T00:00:00Z' },
};
const started: SessionEvent = {
  type: 'SessionStarted',
  data: { ...facts, via: 'login', method: 'password', user: sealed },
};
const validity = { user: { active: true, epoch: 0, keepSid: null }, tenantActive: true };
const step = { userId: 'ann', factor: 'totp', factorId: 'f1', validity, now } as const;
const stepping = (change: Partial<Parameters<typeof stepUp>[0]> = {}) =>
  given(sessions, started).when((session) => stepUp({ ...step, ...change }, session));

describe('a session that is stepped up', () => {
  it('was signed in now, and says by what, as its next tokens will', () => {
    const auth_time = now.getTime() / 1000;
    expect(stepping().state).toMatchObject({ auth_time, amr: ['pwd', 'otp', 'mfa'], seq: 3 });
    const byPassword = stepping({ factor: 'password', factorId: null });
    expect(byPassword.state).toMatchObject({ auth_time, amr: ['pwd'] });
  });

  it('is the caller’s own, and alive', () => {
    stepping({ userId: 'eve' }).refuses('user_session_required');
    const risen = { ...validity, user: { ...validity.user, epoch: 1 } };
    stepping({ validity: risen }).refuses('user_session_required');
    given(sessions)
      .when((session) => stepUp(step, session))
      .refuses('user_session_required');
  });
});

describe('a password', () => {
  const ann = { secondFactors: NO_SECOND_FACTORS } as ExistingUser;
  const secondFactors = { factors: [{ id: 'f1', type: 'totp' as const }], recoveryId: null };

  it('is enough for whoever has nothing else, or is asked for nothing else', () => {
    expect(isEnough('password', ann, { mfa_policy: 'required' })).toBe(true);
    const enrolled = { ...ann, secondFactors };
    expect(isEnough('password', enrolled, { mfa_policy: 'optional' })).toBe(false);
    expect(isEnough('password', enrolled, { mfa_policy: 'disabled' })).toBe(true);
    expect(isEnough('recovery', enrolled, { mfa_policy: 'optional' })).toBe(true);
  });
});
