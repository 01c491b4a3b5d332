import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { rankOf } from '../../../ranks/ranks.ts';
import { type UserEvent, users } from '../user.ts';
import { resetMfa } from './reset-mfa.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const registered = (roles: readonly string[]): UserEvent => ({
  type: 'UserRegistered',
  data: {
    ...{ id: 'ann', email: { subject: 'user:ann', box: 'box' }, email_hash: 'h', roles },
    ...{ email_verified: true, display_name: null, avatar_url: null, via: 'register' },
    ...{ vouched: false, request_hash: null, created_at: at },
  },
});
const added = (factor_id: string): UserEvent => ({
  type: 'FactorAdded',
  data: { id: 'ann', factor_id, factor_type: 'totp', at },
});
const codes: UserEvent = {
  type: 'RecoveryCodesSet',
  data: { id: 'ann', factor_id: 'r1', at },
};
const removed = (factor_id: string, mfa_enabled: boolean): UserEvent => ({
  type: 'FactorRemoved',
  data: { id: 'ann', factor_id, factor_type: 'totp', mfa_enabled, at },
});
const resetting = (roles: readonly string[], ...before: readonly UserEvent[]) =>
  given(users, registered(roles), ...before).when((user) =>
    resetMfa({ by: { rank: rankOf(['admin']), isKey: false }, now }, user),
  );

describe('resetting the second factors of an account', () => {
  it('takes all of them, and the recovery codes, in one decision', () => {
    const reset = resetting(['member'], added('f1'), codes, added('f2'));
    reset.accepts(removed('f1', true), removed('f2', false));
    expect(reset.state).toMatchObject({ secondFactors: { factors: [], recoveryId: null } });
  });

  it('says nothing where there are none', () => {
    resetting(['member']).accepts();
  });

  it('is for those of a rank up to the own', () => {
    resetting(['owner'], added('f1')).refuses('forbidden');
    given(users)
      .when((user) => resetMfa({ by: { rank: 1, isKey: false }, now }, user))
      .refuses('not_found');
  });
});
