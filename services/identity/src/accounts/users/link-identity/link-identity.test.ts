import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type User, type UserEvent, users } from '../user.ts';
import { linkIdentity } from './link-identity.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const sealed = (box: string) => ({ subject: 'user:ann', box });
const registered = (email_verified: boolean): UserEvent => ({
  type: 'UserRegistered',
  data: {
    ...{ id: 'ann', email: sealed('e'), email_hash: 'h', email_verified, display_name: null },
    ...{ avatar_url: null, roles: ['member'], via: 'register', vouched: false },
    ...{ request_hash: null, created_at: at },
  },
});
const withPassword: UserEvent = {
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed('p'), by: 'created', epoch: 0, keep_sid: null, at },
};
const withFactor: UserEvent = {
  type: 'FactorAdded',
  data: { id: 'ann', factor_id: 'f1', factor_type: 'totp', at },
};
const identity = { provider: 'google', subject: sealed('s'), hash: 'x1' } as const;
const link =
  (hash = 'x1') =>
  (user: User) =>
    linkIdentity({ identity: { ...identity, hash }, count: 2, tokensBefore: 100, now }, user);
const linked: UserEvent = {
  type: 'IdentityLinked',
  data: { id: 'ann', ...identity, providers: ['google'], at },
};

describe('an account elsewhere', () => {
  it('is linked to the user whose address it proves, once', () => {
    given(users, registered(true), withPassword).when(link()).accepts(linked);
    given(users, registered(true), withPassword, linked).when(link()).accepts();
  });

  it('takes password, factors and sessions from whoever had not proven the address', () => {
    const state = [registered(false), withPassword, withFactor].reduce(users.evolve, users.initial);
    const decision = link()(state);
    expect(decision.accepted && decision.events.map(({ type }) => type)).toEqual([
      'FactorRemoved',
      'AccountReclaimed',
      'EmailVerified',
      'IdentityLinked',
    ]);
    const after = decision.events.reduce(users.evolve, state);
    expect(after).toMatchObject({
      ...{ passwordHash: null, emailVerified: true, epoch: 1, keepSid: null, tokensBefore: 100 },
      secondFactors: { factors: [], recoveryId: null },
      identities: [{ provider: 'google', hash: 'x1' }],
    });
  });

  it('is not exchanged for another of the same provider, although the address is the same', () => {
    given(users, registered(true), linked).when(link('x2')).refuses('other_identity');
  });

  it('is linked to nobody who is disabled or has not taken the account over', () => {
    const disabled: UserEvent = { type: 'UserDisabled', data: { id: 'ann', epoch: 1, at } };
    given(users, registered(true), disabled).when(link()).refuses('user_inactive');
    given(users).when(link()).refuses('user_inactive');
  });
});
