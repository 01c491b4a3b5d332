/** An administrator withdraws an invitation up to their own rank; its link then does nothing. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { type Administrator, mayGiveRoles } from '../../users/administrator.ts';
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

/** Another invitation to the same address takes its place. */
export const replace = (now: Date, invitation: Invitation): Decision<InvitationEvent, never> =>
  invitation.status === 'pending' ? withdraw(now, invitation) : accept();

const withdraw = (now: Date, { id, userId }: Extract<Invitation, { id: string }>) =>
  accept<InvitationEvent>({
    type: 'InvitationRevoked',
    data: { id, user_id: userId, revoked_at: now.toISOString() },
  });
