import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { rankOf } from '../../ranks/ranks.ts';
import type { User } from '../users/user.ts';
import { acceptInvitation } from './accept/accept.ts';
import { type Invitation, type InvitationEvent, invitations } from './invitation.ts';
import { invite } from './invite/invite.ts';
import { replace, revoke } from './revoke/revoke.ts';

const at = (time: string) => new Date(`2026-01-0${time}Z`);
const now = at('1T10:00:00');
const email = { subject: 'user:bob', box: 'box' };
const asked = {
  ...{ id: 'i1', userId: 'bob', email, emailHash: 'hash', requestHash: null, now },
  roles: ['admin'],
  invitedBy: { tenantId: 't1', userId: 'ann' },
};
const created = (roles: readonly string[] = asked.roles): InvitationEvent => ({
  type: 'InvitationCreated',
  data: {
    ...{ id: 'i1', user_id: 'bob', email, email_hash: 'hash', roles, request_hash: null },
    invited_by: { tenant_id: 't1', user_id: 'ann' },
    created_at: now.toISOString(),
    expires_at: at('8T10:00:00').toISOString(),
  },
});
const accepted: InvitationEvent = {
  type: 'InvitationAccepted',
  data: { id: 'i1', user_id: 'bob', accepted_at: at('2T10:00:00').toISOString() },
};
const revoked: InvitationEvent = {
  type: 'InvitationRevoked',
  data: { id: 'i1', user_id: 'bob', revoked_at: at('2T10:00:00').toISOString() },
};
const inviter = (roles: readonly string[], status = 'active') => ({ status, roles }) as User;
const taking = (by: User | null, time = at('2T10:00:00')) => ({
  when: (invitation: Invitation) =>
    acceptInvitation({ inviter: by, userId: 'bob', now: time }, invitation),
});
const as = (role: string, isKey = false) => ({ rank: rankOf([role]), isKey });

describe('an invitation', () => {
  it('works for seven days, and is made once', () => {
    given(invitations)
      .when((invitation) => invite(asked, invitation))
      .accepts(created());
    given(invitations, created())
      .when((invitation) => invite(asked, invitation))
      .refuses('already_created');
  });

  it('is accepted within its time; again says nothing, for the account tells', () => {
    const admin = inviter(['admin']);
    given(invitations, created()).when(taking(admin).when).accepts(accepted);
    given(invitations, created(), accepted).when(taking(admin).when).accepts();
    given(invitations, created())
      .when(taking(admin, at('8T10:00:00')).when)
      .refuses('expired');
    given(invitations, created(), revoked).when(taking(admin).when).refuses('invalid');
    given(invitations).when(taking(admin).when).refuses('invalid');
  });

  it.each([
    { who: 'was closed', by: inviter(['admin'], 'disabled') },
    { who: 'is gone', by: { status: 'none' } as User },
    { who: 'is an administrator no more', by: inviter(['member']) },
  ])('gives no role where its inviter $who', ({ by }) => {
    for (const roles of [['admin'], ['member']]) {
      given(invitations, created(roles)).when(taking(by).when).refuses('invalid');
    }
  });

  it('gives no role above the rank that its inviter has now', () => {
    const owner = given(invitations, created(['owner', 'admin']));
    owner.when(taking(inviter(['admin'])).when).refuses('invalid');
    expect(owner.when(taking(inviter(['owner', 'admin'])).when).decision.accepted).toBe(true);
  });

  it('needs no inviter where the account exists', () => {
    given(invitations, created()).when(taking(null).when).accepts(accepted);
  });

  it('is withdrawn by whoever could give its roles', () => {
    const time = at('2T10:00:00');
    const by = (role: string) => (invitation: Invitation) =>
      revoke({ by: as(role), now: time }, invitation);
    given(invitations, created()).when(by('admin')).accepts(revoked);
    given(invitations, created(['owner']))
      .when(by('admin'))
      .refuses('forbidden');
    given(invitations, created(), revoked).when(by('admin')).accepts();
    given(invitations, created(), accepted).when(by('owner')).refuses('not_found');
    given(invitations).when(by('owner')).refuses('not_found');
  });

  it('is replaced by the next one to its address, unless it is over', () => {
    const by = { by: as('admin'), now: at('2T10:00:00') };
    const replaced = (invitation: Invitation) => replace(by, invitation);
    given(invitations, created()).when(replaced).accepts(revoked);
    given(invitations, created(), accepted).when(replaced).accepts();
  });

  it('P1 is not replaced by whoever could not give its roles, until it expires', () => {
    const replacing = (role: string, time: string) => (invitation: Invitation) =>
      replace({ by: as(role), now: at(time) }, invitation);
    const owner = given(invitations, created(['owner', 'admin']));
    owner.when(replacing('admin', '2T10:00:00')).refuses('forbidden');
    owner.when(replacing('owner', '2T10:00:00')).accepts(revoked);
    expect(owner.when(replacing('admin', '8T10:00:00')).decision.accepted).toBe(true);
  });
});
