/** Publishes the facts of invitations that other services receive. The address is never among them. */
import type { identityEvents } from '@cardea/contracts';
import { relay } from '@cardea/event-bus';
import type { InvitationEvent } from './invitation.ts';

export const invitationsRelay = relay<InvitationEvent, typeof identityEvents>({
  InvitationCreated: ({ data: { id, roles, created_at, expires_at } }) => ({
    type: 'invitation.created',
    data: { id, roles: [...roles], created_at, expires_at },
  }),
  InvitationAccepted: ({ data: { id, user_id } }) => ({
    type: 'invitation.accepted',
    data: { id, user_id },
  }),
  InvitationRevoked: ({ data: { id } }) => ({ type: 'invitation.revoked', data: { id } }),
});
