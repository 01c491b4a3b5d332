/** Maintains `invitations`: those that can still be accepted, or have lapsed. */
import { orNull, projection, table } from '@cardea/read-models';
import { forgetUserAndTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { UserEvent } from '../users/user.ts';
import type { InvitationEvent } from './invitation.ts';

export const invitationRows = table('invitations', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    user_id: 'text',
    email: orNull('text'),
    roles: 'text[]',
    invited_by: orNull('text'),
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
  },
});

export const invitationsProjection = projection<InvitationEvent | UserEvent | TenantDeleted>()({
  name: 'invitations',
  log: 'identity',
  tables: [invitationRows],
  on: {
    InvitationCreated: async ({ data, metadata: { tenantId }, streamId }, tools) => [
      invitationRows.put({
        id: data.id,
        tenant_id: tenantId,
        user_id: data.user_id,
        email: await tools.open(data.email, { streamId, field: 'email' }),
        roles: data.roles,
        invited_by: data.invited_by?.tenant_id === tenantId ? data.invited_by.user_id : null,
        created_at: data.created_at,
        expires_at: data.expires_at,
      }),
    ],
    InvitationAccepted: ({ data }) => [invitationRows.remove({ id: data.id })],
    InvitationRevoked: ({ data }) => [invitationRows.remove({ id: data.id })],
  },
  apply: forgetUserAndTenantIn('invitations'),
});
