/** Schemas that the endpoints of invitations share. */
import { named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { closed } from '../../http/answers.ts';
import type { Invitation } from './invitation.ts';

export const PATH = '/api/v1/admin/invitations';

export const InvitationShape = named(
  'Invitation',
  closed({
    id: Type.String(),
    email: Type.String(),
    roles: Type.Array(Type.String()),
    status: named('InvitationStatus', Type.Enum(['pending', 'expired'])),
    user_id: Type.String(),
    /** Null for an API key, and for an administrator of another tenant of the organization. */
    invited_by: Type.Union([Type.String(), Type.Null()]),
    created_at: Time,
    expires_at: Time,
  }),
);

export const shownInvitation = (
  invitation: Exclude<Invitation, { status: 'none' }>,
  {
    email,
    tenantId,
    now,
  }: { readonly email: string; readonly tenantId: string; readonly now: Date },
) => ({
  id: invitation.id,
  email,
  roles: [...invitation.roles],
  status: statusAt(new Date(invitation.expiresAt), now),
  user_id: invitation.userId,
  invited_by: invitation.invitedBy?.tenantId === tenantId ? invitation.invitedBy.userId : null,
  created_at: invitation.createdAt,
  expires_at: invitation.expiresAt,
});

export const statusAt = (expiresAt: Date, now: Date): 'pending' | 'expired' =>
  now < expiresAt ? 'pending' : 'expired';
