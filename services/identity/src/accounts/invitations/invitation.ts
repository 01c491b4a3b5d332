/**
 * An invitation that was mailed: to create an account, or to take over one that an administrator created. The address
 * is encrypted under the key of the invited person. That person's id is generated with the invitation.
 */
import type { Sealed } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

export type InvitationFacts = {
  readonly id: string;
  readonly userId: string;
  readonly email: Sealed;
  /** The hash that names the mailbox to which the link is sent. */
  readonly emailHash: string;
  readonly roles: readonly string[];
  /**
   * The administrator who gives the roles at acceptance, possibly of another tenant of the organization. Null if the
   * account exists and already has its roles.
   */
  readonly invitedBy: Inviter | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** A hash of the creating request, to recognise a repeat under the same Idempotency-Key. */
  readonly requestHash: string | null;
};
export type Inviter = { readonly tenantId: string; readonly userId: string };

export type Invitation =
  | { readonly status: 'none' }
  | ({ readonly status: 'pending' | 'accepted' | 'revoked' } & InvitationFacts);

export type InvitationEvent =
  | {
      readonly type: 'InvitationCreated';
      readonly concerns?: 'relay' | 'invitations';
      readonly data: {
        readonly id: string;
        readonly user_id: string;
        readonly email: Sealed;
        readonly email_hash: string;
        readonly roles: readonly string[];
        readonly invited_by: { readonly tenant_id: string; readonly user_id: string } | null;
        readonly created_at: string;
        readonly expires_at: string;
        readonly request_hash: string | null;
      };
    }
  | {
      readonly type: 'InvitationAccepted';
      readonly concerns?: 'relay' | 'invitations';
      readonly data: {
        readonly id: string;
        readonly user_id: string;
        readonly accepted_at: string;
      };
    }
  | {
      readonly type: 'InvitationRevoked';
      readonly data: { readonly id: string; readonly user_id: string; readonly revoked_at: string };
    };

export const invitations: Stream<Invitation, InvitationEvent> = {
  noun: 'invitation',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    if (type === 'InvitationCreated') {
      const by = data.invited_by;
      return {
        status: 'pending',
        id: data.id,
        userId: data.user_id,
        email: data.email,
        emailHash: data.email_hash,
        roles: data.roles,
        invitedBy: by === null ? null : { tenantId: by.tenant_id, userId: by.user_id },
        createdAt: data.created_at,
        expiresAt: data.expires_at,
        requestHash: data.request_hash,
      };
    }
    if (before.status === 'none') return before;
    switch (type) {
      case 'InvitationAccepted':
        return { ...before, status: 'accepted' };
      case 'InvitationRevoked':
        return { ...before, status: 'revoked' };
    }
  },
};
