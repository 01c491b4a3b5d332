/** An administrator withdraws an invitation with roles up to their own rank. Its link then has no effect. */

import { accept, type Decision, refuse } from '@cardea/event-store';
import { type Administrator, mayGiveRoles } from '../../../ranks/ranks.ts';
import type { Invitation, InvitationEvent } from '../invitation.ts';

export type Revoke = { readonly by: Administrator; readonly now: Date };

export function revoke(
  { by, now }: Revoke,
  invitation: Invitation,
): Decision<InvitationEvent, 'not_found' | 'forbidden'> {
  if (invitation.status === 'none' || invitation.status === 'accepted') return refuse('not_found');
  if (!mayGiveRoles(by, invitation.roles)) return refuse('forbidden');
  return invitation.status === 'revoked' ? accept() : withdraw(now, invitation);
}

/** Replaces the invitation by another one to the same address, unless its roles are above the new inviter's. */
export function replace(
  { by, now }: Revoke,
  invitation: Invitation,
): Decision<InvitationEvent, 'forbidden'> {
  if (invitation.status !== 'pending') return accept();
  return stands(invitation, { by, now }) ? refuse('forbidden') : withdraw(now, invitation);
}

/**
 * Whether the invitation still gives roles above the administrator's. Such an administrator may not void it in any way.
 * An existing account already has its roles and is protected by its own rules.
 */
export const stands = (invitation: Invitation, { by, now }: Revoke): boolean =>
  invitation.status === 'pending' &&
  invitation.invitedBy !== null &&
  now < new Date(invitation.expiresAt) &&
  !mayGiveRoles(by, invitation.roles);

const withdraw = (now: Date, { id, userId }: Extract<Invitation, { id: string }>) =>
  accept<InvitationEvent>({
    type: 'InvitationRevoked',
    data: { id, user_id: userId, revoked_at: now.toISOString() },
  });
