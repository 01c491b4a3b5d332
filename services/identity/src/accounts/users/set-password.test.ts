import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type SetPassword, setPassword } from './set-password.ts';
import { type UserEvent, users } from './user.ts';

const NOW = new Date('2026-01-01T10:00:00Z');
const at = NOW.toISOString();
const sealed = (box: string) => ({ subject: 'user:ann', box });
const registered: UserEvent = {
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed('email'),
    email_hash: 'h',
    email_verified: false,
    display_name: null,
    avatar_url: null,
    roles: ['member'],
    via: 'register',
    vouched: false,
    request_hash: null,
    created_at: at,
  },
};
const set = (of: { box: string; epoch: number; by: 'created' | 'user' | 'reset' }): UserEvent => ({
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed(of.box), by: of.by, epoch: of.epoch, keep_sid: null, at },
});
const created = set({ box: 'first', epoch: 0, by: 'created' });
const changed = set({ box: 'second', epoch: 1, by: 'user' });

const verified: UserEvent = { type: 'EmailVerified', data: { id: 'ann', at } };
const withFactor: UserEvent = {
  type: 'FactorAdded',
  data: { id: 'ann', factor_id: 'f1', factor_type: 'passkey', at },
};
const reset: SetPassword = {
  ...{ hash: sealed('third'), by: 'reset', keep: null, now: NOW },
  reclaim: { count: 2, tokensBefore: 100 },
};

describe('a new password', () => {
  it('by a mailed link asks for no current one', () => {
    given(users, registered, verified, created, changed)
      .when((user) => setPassword(reset, user))
      .accepts(set({ box: 'third', epoch: 2, by: 'reset' }));
  });

  it('by a mailed link takes everything from whoever had never proven the address', () => {
    const state = [registered, created, withFactor].reduce(users.evolve, users.initial);
    const decision = setPassword(reset, state);
    expect(decision.accepted && decision.events.map(({ type }) => type)).toEqual([
      'FactorRemoved',
      'AccountReclaimed',
      'EmailVerified',
      'PasswordSet',
    ]);
    expect(decision.events.reduce(users.evolve, state)).toMatchObject({
      ...{ passwordHash: sealed('third'), passwordsBefore: [], emailVerified: true },
      ...{ epoch: 2, tokensBefore: 100, reclaimedAt: at, secondFactors: { factors: [] } },
    });
  });

  it('of their own takes nothing but sessions, whether or not the address is proven', () => {
    given(users, registered, created, withFactor)
      .when((user) => setPassword({ hash: sealed('x'), by: 'user', keep: null, now: NOW }, user))
      .accepts(set({ box: 'x', epoch: 1, by: 'user' }));
  });
});
