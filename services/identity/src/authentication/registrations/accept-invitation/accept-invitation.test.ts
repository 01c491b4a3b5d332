import { describe, expect, it } from 'vitest';
import type { Invitation } from '../../../accounts/accounts.module.ts';
import { TENANT_DEFAULTS } from '../../../workspaces/workspaces.module.ts';
import { acceptanceOf, objectionTo, refusalOf } from './accept-invitation.ts';

const closed = { registration: { mode: 'closed', uniform_response: null } } as const;
const invitation = (invitedBy: object | null) => ({ status: 'pending', invitedBy }) as Invitation;

describe('accepting an invitation', () => {
  it('takes a password that the tenant takes, or none', () => {
    expect(acceptanceOf({ display_name: ' Ann ' }, TENANT_DEFAULTS)).toEqual({
      acceptance: { password: null, displayName: 'Ann' },
    });
    expect(acceptanceOf({ password: 'short' }, TENANT_DEFAULTS)).toEqual({
      refused: 'password_too_short',
    });
    expect(acceptanceOf({ display_name: '\u0000' }, TENANT_DEFAULTS)).toMatchObject({
      refused: 'invalid_request',
    });
  });

  it('makes no account in a tenant that was closed, but opens one that an administrator created', () => {
    const by = { tenantId: 't1', userId: 'ann' };
    expect(objectionTo(invitation(by), closed)).toEqual({ refused: 'registration_closed' });
    expect(objectionTo(invitation(null), closed)).toBeUndefined();
    expect(objectionTo(invitation(by), TENANT_DEFAULTS)).toBeUndefined();
    expect(objectionTo({ status: 'none' }, TENANT_DEFAULTS)).toEqual({
      refused: 'invalid_invitation',
    });
  });

  it('tells whoever has the link why it does nothing', () => {
    expect(refusalOf({ refused: 'expired' })).toEqual({ refused: 'invitation_expired' });
    expect(refusalOf({ refused: 'invalid' })).toEqual({ refused: 'invalid_invitation' });
    expect(refusalOf({ refused: 'email_already_exists' })).toEqual({
      refused: 'email_already_exists',
    });
  });
});
