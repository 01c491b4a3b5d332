/**
 * The invited person accepts. The inviter must still be allowed to give the roles. A repeat is accepted without an
 * event, because only the person's own stream tells whether the account was created.
 */

import { accept, type Decision, refuse } from '@cardea/event-store';
import { rankOf } from '../../../ranks/ranks.ts';
import type { User } from '../../users/user.ts';
import type { Invitation, InvitationEvent } from '../invitation.ts';

export type AcceptInvitation = {
  /** The inviter's current account. Null if nobody gives roles. */
  readonly inviter: User | null;
  /**
   * The user who joins: the id generated with the invitation, or the id of the account whose address the person takes
   * over.
   */
  readonly userId: string;
  readonly now: Date;
};

export function acceptInvitation(
  { inviter, userId, now }: AcceptInvitation,
  invitation: Invitation,
): Decision<InvitationEvent, 'invalid' | 'expired'> {
  if (invitation.status === 'none' || invitation.status === 'revoked') return refuse('invalid');
  if (inviter !== null && !mayStillGive(inviter, invitation.roles)) return refuse('invalid');
  if (invitation.status === 'accepted') return accept();
  if (now >= new Date(invitation.expiresAt)) return refuse('expired');
  const { id } = invitation;
  const data = { id, user_id: userId, accepted_at: now.toISOString() };
  return accept({ type: 'InvitationAccepted', data });
}

const mayStillGive = (inviter: User, roles: readonly string[]): boolean =>
  inviter.status === 'active' && rankOf(inviter.roles) >= Math.max(1, rankOf(roles));
