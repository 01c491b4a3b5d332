import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { type UserEvent, users } from './user.ts';
import { yieldAddress } from './yield-address.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const sealed = (box: string) => ({ subject: 'user:ann', box });
const registered = (roles: readonly string[], email_verified = false): UserEvent => ({
  type: 'UserRegistered',
  data: {
    ...{ id: 'ann', email: sealed('e'), email_hash: 'h', email_verified, roles },
    ...{ display_name: sealed('stranger'), avatar_url: sealed('a'), via: 'register' },
    ...{ vouched: false, request_hash: null, created_at: at },
  },
});
const password: UserEvent = {
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed('p'), by: 'created', epoch: 0, keep_sid: null, at },
};
const invited = {
  ...{ roles: ['admin'], passwordHash: sealed('own'), displayName: null, now },
  proof: { isRegistrant: false, count: 0, tokensBefore: 100 },
};

describe('an account whose address was never proven', () => {
  it("P5 becomes the invited person's, with nothing of whoever registered it", () => {
    const state = [registered(['member']), password].reduce(users.evolve, users.initial);
    const decision = yieldAddress(invited, state);
    expect(decision.accepted).toBe(true);
    expect(decision.events.reduce(users.evolve, state)).toMatchObject({
      ...{ emailVerified: true, roles: ['admin'], vouched: true, passwordHash: sealed('own') },
      ...{ displayName: null, avatarUrl: null, epoch: 1, reclaimedAt: at, passwordEpoch: 1 },
    });
  });

  it.each([
    { name: 'a proven address', event: registered(['member'], true) },
    { name: 'a rank above member', event: registered(['owner', 'admin']) },
  ])('P5 does not yield with $name', ({ event }) => {
    given(users, event, password)
      .when((user) => yieldAddress(invited, user))
      .refuses('taken');
  });
});
