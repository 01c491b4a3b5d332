import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type ProveAddress, proveAddress } from './prove-address.ts';
import { type User, type UserEvent, users } from './user.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const sealed = { subject: 'user:ann', box: 'box' };
const registered: UserEvent = {
  type: 'UserRegistered',
  data: {
    ...{ id: 'ann', email: sealed, email_hash: 'h', email_verified: false, display_name: null },
    ...{ avatar_url: null, roles: ['member'], via: 'register', vouched: false },
    ...{ request_hash: null, created_at: at },
  },
};
const password: UserEvent = {
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed, by: 'created', epoch: 0, keep_sid: null, at },
};
const factor: UserEvent = {
  type: 'FactorAdded',
  data: { id: 'ann', factor_id: 'f1', factor_type: 'totp', at },
};
const identity: UserEvent = {
  type: 'IdentityLinked',
  data: {
    ...{ id: 'ann', provider: 'google', subject: sealed, hash: 'x', providers: ['google'], at },
  },
};
const verified: UserEvent = { type: 'EmailVerified', data: { id: 'ann', at } };
const disabled: UserEvent = { type: 'UserDisabled', data: { id: 'ann', epoch: 1, at } };

const proof: ProveAddress = {
  ...{ basis: { user_epoch: 0 }, isRegistrant: false, count: 3, tokensBefore: 100, now },
};
const proved =
  (change: Partial<ProveAddress> = {}) =>
  (user: User) =>
    proveAddress({ ...proof, ...change }, user);

describe('the first proof of an address', () => {
  it('P4 takes every credential of before from an account that others may have prepared', () => {
    const state = [registered, password, factor, identity].reduce(users.evolve, users.initial);
    const decision = proved()(state);
    expect(decision.events.map(({ type }) => type)).toEqual([
      'FactorRemoved',
      'IdentityUnlinked',
      'AccountReclaimed',
      'EmailVerified',
    ]);
    expect(decision.events.reduce(users.evolve, state)).toMatchObject({
      ...{ emailVerified: true, passwordHash: null, identities: [], epoch: 1, keepSid: null },
      ...{ tokensBefore: 100, reclaimedAt: at, secondFactors: { factors: [] } },
    });
  });

  it.each([
    { name: 'a password', event: password },
    { name: 'a second factor', event: factor },
    { name: 'an account elsewhere', event: identity },
  ])('P4 reclaims for $name alone', ({ event }) => {
    const state = [registered, event].reduce(users.evolve, users.initial);
    expect(proved()(state).events.map(({ type }) => type)).toContain('AccountReclaimed');
  });

  it('P4 leaves the registrant what they have prepared', () => {
    const by = proved({ isRegistrant: true });
    given(users, registered, password, factor, identity).when(by).accepts(verified);
  });

  it('P4 reclaims nothing where nobody could have signed in', () => {
    given(users, registered).when(proved()).accepts(verified);
  });

  it('P4 is made once', () => {
    given(users, registered, password, verified).when(proved()).accepts();
  });

  it('P3 is refused after the basis of its secret', () => {
    given(users, registered, disabled).when(proved()).refuses('not_found');
    given(users, registered)
      .when(proved({ basis: { user_epoch: 1 } }))
      .refuses('not_found');
    given(users).when(proved()).refuses('not_found');
  });
});
