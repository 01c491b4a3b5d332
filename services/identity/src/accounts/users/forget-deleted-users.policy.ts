/**
 * A deleted user is forgotten: the address is free for another, then the key goes that everything about
 * the person is sealed under. In this order, so that a crash in between leaves nothing half free.
 */
import type { Sealer } from '@cardea/crypto';
import type { Command, RecordedEvent } from '@cardea/event-store';
import type { Policy } from '@cardea/service';
import type { UserEvent } from './user.ts';

type Deleted = Extract<UserEvent, { type: 'UserDeleted' }>['data'];

export const forgetDeletedUsers = (needs: {
  readonly sealer: Sealer;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Gives the address back. */
  readonly releaseAddress: (
    of: { readonly tenantId: string; readonly userId: string; readonly emailHash: string },
    command: Command,
  ) => Promise<void>;
}): Policy => ({
  name: 'forget_deleted_users',
  on: ['UserDeleted'],
  handle: async (event: RecordedEvent) => {
    const { id: userId, email_hash: emailHash } = event.data as Deleted;
    const { tenantId } = event.metadata;
    const command = needs.systemCommand(tenantId, 'forget', event.id);
    await needs.releaseAddress({ tenantId, userId, emailHash }, command);
    await needs.sealer.erase(`user:${userId}`);
  },
});
