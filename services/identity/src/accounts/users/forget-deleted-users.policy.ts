/**
 * A deleted user is forgotten: the address is free for another, then the key goes that everything about
 * the person is sealed under. In this order, so that a crash in between leaves nothing half free.
 */
import type { Sealer } from '@cardea/crypto';
import { type Command, ignoring } from '@cardea/event-store';
import { policy } from '@cardea/service';
import type { UserEvent } from './user.ts';

export const forgetDeletedUsers = (needs: {
  readonly sealer: Sealer;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Gives the address back. */
  readonly releaseAddress: (
    of: { readonly tenantId: string; readonly userId: string; readonly emailHash: string },
    command: Command,
  ) => Promise<void>;
}) =>
  policy<UserEvent>({
    name: 'forget_deleted_users',
    on: {
      UserDeleted: async ({ id: eventId, data, metadata: { tenantId } }) => {
        const { id: userId, email_hash: emailHash } = data;
        const command = needs.systemCommand(tenantId, 'forget', eventId);
        await needs.releaseAddress({ tenantId, userId, emailHash }, command);
        await needs.sealer.erase(`user:${userId}`);
      },
      ...ignoring(
        'the person is still there',
        'UserAbandoned',
        'UserRegistered',
        'PasswordSet',
        'PasswordRehashed',
        'EmailVerified',
        'ProfileChanged',
        'RolesChanged',
        'UserVouched',
        'VouchWithdrawn',
        'UserDisabled',
        'UserEnabled',
        'SessionsRevoked',
      ),
    },
  });
