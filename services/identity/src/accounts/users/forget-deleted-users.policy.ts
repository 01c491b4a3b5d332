/**
 * After a user was deleted: releases the address, then erases the key that encrypts everything about them.
 * In this order, so that a crash in between leaves nothing half released.
 */
import type { Sealer } from '@cardea/crypto';
import type { Command } from '@cardea/event-store';
import { policy } from '@cardea/service';
import { type UserEvent, whileUserStays } from './user.ts';

export const forgetDeletedUsers = (needs: {
  readonly sealer: Sealer;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Makes the address available again. */
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
      ...whileUserStays('the person is still there'),
    },
  });
