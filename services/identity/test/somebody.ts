/** The state of an active user without a password or a factor. */
import { type ExistingUser, NO_SECOND_FACTORS } from '../src/accounts/accounts.module.ts';

const sealed = { subject: 'user:ann', box: 'box' };
export const somebody: ExistingUser = {
  ...{ status: 'active', id: 'ann', email: sealed, emailHash: 'hash', emailVerified: true },
  ...{ displayName: null, avatarUrl: null, roles: ['member'], vouched: false, tokensBefore: 0 },
  ...{
    passwordHash: null,
    passwordsBefore: [],
    passwordEpoch: 0,
    secondFactors: NO_SECOND_FACTORS,
    identities: [],
  },
  ...{ epoch: 0, keepSid: null, revokedEpoch: 0, reclaimedAt: null },
  ...{ epochSince: '', createdAt: '', updatedAt: '', requestHash: null },
};
