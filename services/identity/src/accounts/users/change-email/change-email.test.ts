import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type UserEvent, users } from '../user.ts';
import {
  changeEmail,
  pendingEmailChange,
  proveEmailChange,
  type RequestEmailChange,
  remindOfEmailChange,
  requestEmailChange,
  stopEmailChange,
} from './change-email.ts';

const now = new Date('2026-01-20T10:00:00Z');
const at = '2026-01-01T10:00:00.000Z';
const sealed = { subject: 'user:ann', box: 'box' };
const registered = (roles: readonly string[] = ['member']): UserEvent => ({
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed,
    email_hash: 'old',
    email_verified: true,
    display_name: null,
    avatar_url: null,
    roles,
    via: 'register',
    vouched: false,
    request_hash: null,
    created_at: at,
  },
});
const factor = (since: string): UserEvent => ({
  type: 'FactorAdded',
  data: { id: 'ann', factor_id: 'f', factor_type: 'totp', at: since },
});
const requested = (more: object = {}): UserEvent => ({
  type: 'EmailChangeRequested',
  data: {
    id: 'ann',
    change_id: 'c',
    email: sealed,
    email_hash: 'new',
    missing: ['new', 'present'],
    epoch: 0,
    keep_sid: 's',
    expires_at: '2026-01-21T10:00:00.000Z',
    effective_at: null,
    at: now.toISOString(),
    ...more,
  },
});
const proven = (side: 'new' | 'present'): UserEvent => ({
  type: 'EmailChangeProven',
  data: { id: 'ann', change_id: 'c', side, at: now.toISOString() },
});
const revoked = (keep_sid: string | null): UserEvent => ({
  type: 'SessionsRevoked',
  data: { id: 'ann', epoch: 1, keep_sid, count: 1, at },
});
const asking: RequestEmailChange = {
  changeId: 'c',
  email: sealed,
  hash: 'new',
  isOutOfReach: false,
  asksForFactors: true,
  session: { sid: 's', userEpoch: 0 },
  now,
};
const ask = (more: Partial<RequestEmailChange>, ...events: readonly UserEvent[]) =>
  given(users, registered(), ...events).when((user) =>
    requestEmailChange({ ...asking, ...more }, user),
  );
const finish = (time: Date, ...events: readonly UserEvent[]) =>
  given(users, registered(), ...events).when((user) =>
    changeEmail({ changeId: 'c', now: time }, user),
  );

describe('asking for another address', () => {
  it('wants both sides proven, and is refused for the present one', () => {
    ask({}).accepts(requested());
    ask({ hash: 'old' }).refuses('unchanged');
  });

  it('without the present one takes a factor of seven days, and waits as long', () => {
    const far = { missing: ['new'], effective_at: '2026-01-27T10:00:00.000Z' };
    ask({ isOutOfReach: true }, factor(at)).accepts(requested(far));
    ask({ isOutOfReach: true }).refuses('second_factor_required');
    ask({ isOutOfReach: true }, factor('2026-01-19T10:00:00.000Z')).refuses(
      'second_factor_required',
    );
    ask({ isOutOfReach: true, asksForFactors: false }, factor(at)).refuses(
      'second_factor_required',
    );
  });
});

describe('a change that waits', () => {
  it('ends with the sessions of before, unless the session that asked was kept', () => {
    const pending = (...events: readonly UserEvent[]) =>
      pendingEmailChange(
        [registered(), requested(), ...events].reduce(users.evolve, users.initial),
        now,
      );
    expect(pending()).toMatchObject({ id: 'c' });
    expect(pending(revoked('s'))).toMatchObject({ id: 'c' });
    expect(pending(revoked(null))).toBeUndefined();
  });

  it('is proven side by side, once each', () => {
    const prove = (side: 'new' | 'present', ...events: readonly UserEvent[]) =>
      given(users, registered(), requested(), ...events).when((user) =>
        proveEmailChange({ changeId: 'c', side, now }, user),
      );
    prove('new').accepts(proven('new'));
    prove('new', proven('new')).accepts();
    prove('new', revoked(null)).refuses('stopped');
  });

  it('takes effect once nothing is missing, and keeps the session that asked', () => {
    finish(now, requested(), proven('new')).refuses('early');
    finish(now, requested(), proven('new'), proven('present')).accepts({
      type: 'EmailChanged',
      data: {
        id: 'ann',
        email: sealed,
        email_hash: 'new',
        previous_hash: 'old',
        email_verified: true,
        by: 'user',
        epoch: 1,
        keep_sid: 's',
        at: now.toISOString(),
      },
    });
  });

  it('takes effect on its day alone, and only with the factor', () => {
    const far = requested({ missing: ['new'], effective_at: '2026-01-27T10:00:00.000Z' });
    const day = new Date('2026-01-27T10:00:00Z');
    finish(now, factor(at), far, proven('new')).refuses('early');
    finish(day, far, proven('new')).refuses('void');
    finish(day, factor(at), far).refuses('void');
  });

  it('is stopped, and its present address is told again', () => {
    const on = given(users, registered(), requested());
    on.when((user) => stopEmailChange({ by: 'link', now }, user)).accepts({
      type: 'EmailChangeStopped',
      data: { id: 'ann', change_id: 'c', by: 'link', at: now.toISOString() },
    });
    on.when((user) => stopEmailChange({ by: 'link', changeId: 'other', now }, user)).accepts();
    on.when((user) => remindOfEmailChange({ now }, user)).accepts({
      type: 'EmailChangeReminded',
      data: { id: 'ann', change_id: 'c', at: now.toISOString() },
    });
  });
});
