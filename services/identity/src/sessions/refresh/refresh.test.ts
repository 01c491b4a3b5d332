import { describe, expect, it } from 'vitest';
import { type SessionEvent, type SessionFacts, sessions } from '../session.ts';
import { type Refresh, refresh } from './refresh.ts';

const at = (time: string) => new Date(`2026-01-01T${time}Z`);
const sealed = { subject: 'user:ann', box: 'box' };
const facts: SessionFacts = {
  id: 's1',
  user_id: 'ann',
  user_epoch: 3,
  kind: 'login',
  client_id: null,
  consent_id: null,
  consent_epoch: null,
  scope: null,
  resource: null,
  salt: 'salt',
  seq: 2,
  rotated_at: at('10:00:00').toISOString(),
  auth_time: 1_767_261_600,
  amr: ['pwd'],
  app_id: null,
  ip: sealed,
  user_agent: sealed,
  started_at: at('09:00:00').toISOString(),
  last_active_at: at('10:00:00').toISOString(),
  expires_at: at('12:00:00').toISOString(),
  ends_at: at('13:00:00').toISOString(),
  revoked_at: null,
  reason: null,
};
const refreshed = (change: Partial<SessionFacts> = {}): SessionEvent => ({
  type: 'SessionRefreshed',
  data: { ...facts, ...change },
});
const repeated = (now: Date): SessionEvent => ({
  type: 'SessionRefreshRepeated',
  data: { ...facts, repeated_at: now.toISOString() },
});
const alive = { user: { active: true, epoch: 3, keepSid: null }, tenantActive: true };
const command: Refresh = {
  by: { kind: 'login' },
  seq: 2,
  now: at('10:30:00'),
  validity: alive,
  mode: 'leeway',
  leewayMs: 10_000,
  caller: { subject: 'user:ann', box: 'network and agent' },
  lastRefresh: { seq: 2, isCallers: true },
  slidingMs: 3_600_000,
};
const decide = (change: Partial<Refresh> = {}, session: Partial<SessionFacts> = {}) =>
  refresh({ ...command, ...change }, sessions.evolve(sessions.initial, refreshed(session)));

describe('refreshing a session', () => {
  it('makes the successor and moves the end, but never past the absolute one', () => {
    expect(decide()).toEqual({
      accepted: true,
      events: [
        refreshed({
          seq: 3,
          rotated_at: at('10:30:00').toISOString(),
          refreshed_by: { seq: 3, caller: command.caller },
          last_active_at: at('10:30:00').toISOString(),
          expires_at: at('11:30:00').toISOString(),
        }),
      ],
    });
    const late = decide({ now: at('12:30:00') }, { expires_at: at('12:45:00').toISOString() });
    expect(late.events[0]?.data).toMatchObject({ expires_at: facts.ends_at });
  });

  it('refuses the predecessor within the leeway, records it, and lets the family live', () => {
    expect(decide({ seq: 1, now: at('10:00:10') })).toEqual({
      accepted: false,
      reason: 'refresh_token_rotated',
      events: [repeated(at('10:00:10'))],
    });
  });

  it('records once a minute at most that a predecessor came again', () => {
    const recordedAt = (time: string) => ({ repeated_at: at(time).toISOString() });
    const now = at('10:00:10');
    expect(decide({ seq: 1, now }, recordedAt('09:59:11')).events).toEqual([]);
    expect(decide({ seq: 1, now }, recordedAt('09:59:10')).events).toEqual([repeated(now)]);
  });

  it('asks who made the last refresh before it forgives', () => {
    const now = at('10:00:10');
    for (const lastRefresh of [undefined, { seq: 1, isCallers: true }]) {
      expect(decide({ seq: 1, now, lastRefresh })).toEqual({
        accepted: false,
        reason: 'not_looked_up',
        events: [],
      });
    }
  });

  const foreign = { lastRefresh: { seq: 2, isCallers: false } };
  it.each(['leeway', 'idempotent'] as const)(
    'refuses the predecessor from elsewhere within the leeway, and lets the family live: %s',
    (mode) => {
      const now = at('10:00:01');
      const elsewhere = { repeated_at: now.toISOString(), repeated_elsewhere: true } as const;
      const recorded = { type: 'SessionRefreshRepeated', data: { ...facts, ...elsewhere } };
      expect(decide({ seq: 1, now, mode, ...foreign })).toEqual({
        accepted: false,
        reason: 'refresh_token_rotated',
        events: [recorded],
      });
      const again = decide({ seq: 1, now: at('10:00:02'), mode, ...foreign }, elsewhere);
      expect(again).toEqual({ accepted: false, reason: 'refresh_token_rotated', events: [] });
    },
  );

  it.each<{ name: string; change?: Partial<Refresh>; seq: number; now: Date }>([
    { name: 'the predecessor after the leeway', seq: 1, now: at('10:00:11') },
    { name: 'an older one, at once', seq: 0, now: at('10:00:01') },
    {
      name: 'the predecessor in strict mode, whoever shows it',
      seq: 1,
      now: at('10:00:01'),
      change: { mode: 'strict' },
    },
  ])('ends the family for $name', ({ seq, now, change = {} }) => {
    const decision = decide({ seq, now, ...change });
    expect(decision).toMatchObject({ accepted: false, reason: 'refresh_token_rotated' });
    expect(decision.events).toEqual([
      {
        type: 'SessionRevoked',
        data: { ...facts, revoked_at: now.toISOString(), reason: 'reuse' },
      },
    ]);
  });

  it('in idempotent mode gives the current token once more, and only within the leeway', () => {
    expect(decide({ seq: 1, now: at('10:00:09'), mode: 'idempotent' })).toEqual({
      accepted: true,
      events: [repeated(at('10:00:09'))],
    });
    const ends = (seq: number, now: Date) =>
      expect(decide({ seq, now, mode: 'idempotent' }).events[0]?.type).toBe('SessionRevoked');
    ends(1, at('10:00:11'));
    ends(0, at('10:00:01'));
  });

  it.each<{ name: string; change?: Partial<Refresh>; session?: Partial<SessionFacts> }>([
    { name: 'a number that was never given out', change: { seq: 3 } },
    { name: 'a revoked session', session: { revoked_at: at('10:10:00').toISOString() } },
    { name: 'the very instant it expires', change: { now: at('12:00:00') } },
    {
      name: 'a user whose epoch has risen',
      change: { validity: { ...alive, user: { ...alive.user, epoch: 4 } } },
    },
    {
      name: 'a disabled user',
      change: { validity: { ...alive, user: { ...alive.user, active: false } } },
    },
    {
      name: 'a tenant that is gone',
      change: { validity: { ...alive, tenantActive: false } },
    },
    { name: 'an OAuth session', session: { kind: 'oauth' } },
  ])('is invalid for $name', ({ change = {}, session = {} }) => {
    expect(decide(change, session)).toEqual({
      accepted: false,
      reason: 'invalid_refresh_token',
      events: [],
    });
  });

  it('of a bound session is invalid without its key, and ends nothing [oauth 39]', () => {
    const bound = { kind: 'oauth', client_id: 'c1', jkt: 'its key' } as const;
    const by = (thumbprint: string | undefined) =>
      ({ kind: 'oauth', clientId: 'c1', thumbprint, binds: thumbprint !== undefined }) as const;
    const invalid = { accepted: false, reason: 'invalid_refresh_token', events: [] };
    for (const seq of [0, facts.seq]) {
      expect(decide({ seq, by: by('another') }, bound)).toEqual(invalid);
      expect(decide({ seq, by: by(undefined) }, bound)).toEqual(invalid);
    }
    expect(decide({ by: by('its key') }, bound).accepted).toBe(true);
    const { jkt: _none, ...unbound } = bound;
    const [event] = decide({ by: by('a key') }, unbound).events;
    expect(event?.data).toMatchObject({ jkt: 'a key' });
  });

  it('is invalid for a session that nobody started', () => {
    expect(refresh(command, sessions.initial)).toMatchObject({ reason: 'invalid_refresh_token' });
  });

  it('goes on for the session that was kept when the epoch rose', () => {
    const kept = { active: true, epoch: 4, keepSid: 's1' };
    expect(decide({ validity: { ...alive, user: kept } }).accepted).toBe(true);
  });

  it('tells a replay also from a dead family, and records it no second time', () => {
    const revoked = { revoked_at: at('10:10:00').toISOString() };
    expect(decide({ seq: 0 }, revoked)).toEqual({
      accepted: false,
      reason: 'refresh_token_rotated',
      events: [],
    });
  });
});
