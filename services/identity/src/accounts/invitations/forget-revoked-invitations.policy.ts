/** Erases the address of an invited person when the invitation is revoked. */
import type { Sealer } from '@cardea/crypto';
import { policy } from '@cardea/service';
import { userSubject } from '../../streams/encrypted-fields.ts';
import type { UserDirectory } from '../user-directory.ts';
import type { InvitationEvent } from './invitation.ts';

export const forgetRevokedInvitations = (needs: {
  readonly sealer: Sealer;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
}) =>
  policy<InvitationEvent>()({
    name: 'forget_revoked_invitations',
    on: {
      InvitationRevoked: async ({ data, metadata: { tenantId } }) => {
        const user = await needs.userDirectory.byId(tenantId, data.user_id);
        if (user.status === 'none') await needs.sealer.erase(userSubject(data.user_id));
      },
    },
  });
