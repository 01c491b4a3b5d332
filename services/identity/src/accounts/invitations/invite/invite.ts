/** An administrator invites a person. The mailbox uses the same lifetime for the link. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { INVITATION_TTL_MS } from '../../../mail/mail.module.ts';
import type { Invitation, InvitationEvent, Inviter } from '../invitation.ts';

export type Invite = {
  readonly id: string;
  readonly userId: string;
  readonly email: Sealed;
  readonly emailHash: string;
  readonly roles: readonly string[];
  readonly invitedBy: Inviter | null;
  readonly requestHash: string | null;
  readonly now: Date;
};

export function invite(
  command: Invite,
  invitation: Invitation,
): Decision<InvitationEvent, 'already_created'> {
  if (invitation.status !== 'none') return refuse('already_created');
  const { now, invitedBy: by } = command;
  return accept({
    type: 'InvitationCreated',
    data: {
      id: command.id,
      user_id: command.userId,
      email: command.email,
      email_hash: command.emailHash,
      roles: command.roles,
      invited_by: by === null ? null : { tenant_id: by.tenantId, user_id: by.userId },
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + INVITATION_TTL_MS).toISOString(),
      request_hash: command.requestHash,
    },
  });
}
