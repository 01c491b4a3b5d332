import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import type { User } from '../../../accounts/users/user.ts';
import { type DelegationEvent, delegations } from '../delegation.ts';
import { grantDelegation, withdrawDelegation } from './delegate.ts';

const now = new Date('2026-01-01T10:00:00.000Z');
const about = { id: 'delegation', user_id: 'ann', agent_id: 'bot', services: [] };
const data = { ...about, expires_at: null, created_at: now.toISOString(), request_hash: 'hash' };
const granted: DelegationEvent = { type: 'DelegationGranted', data };
const withdrawn: DelegationEvent = {
  type: 'DelegationWithdrawn',
  data: { ...about, withdrawn_at: now.toISOString() },
};

const user = { status: 'active', tokensBefore: 100 } as User;

describe('a delegation', () => {
  it('is given anew however often, also after it was taken back', () => {
    for (const history of [[], [granted], [granted, withdrawn]]) {
      given(delegations, ...history)
        .when(() => grantDelegation(data, { user, issuedAt: 100 }))
        .accepts(granted);
    }
  });

  it('is given by no token that was taken back meanwhile', () => {
    given(delegations)
      .when(() => grantDelegation(data, { user, issuedAt: 99 }))
      .refuses('forbidden');
    const disabled = { ...user, status: 'disabled' } as User;
    given(delegations)
      .when(() => grantDelegation(data, { user: disabled, issuedAt: 100 }))
      .refuses('forbidden');
  });

  it('is taken back once, and by nobody but the user who gave it', () => {
    given(delegations, granted)
      .when((delegation) => withdrawDelegation({ userId: 'ann', now }, delegation))
      .accepts(withdrawn);
    given(delegations, granted, withdrawn)
      .when((delegation) => withdrawDelegation({ userId: 'ann', now }, delegation))
      .accepts();
    given(delegations, granted)
      .when((delegation) => withdrawDelegation({ userId: 'bob', now }, delegation))
      .refuses('not_found');
    given(delegations)
      .when((delegation) => withdrawDelegation({ userId: 'ann', now }, delegation))
      .refuses('not_found');
  });
});
