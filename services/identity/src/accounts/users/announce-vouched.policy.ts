/**
 * Other services learn for whom administrators vouch from events alone. Of persons from before there was
 * such an event nothing was said, so it is said once, for each of them.
 */
import { accept, type Command, type RecordedEvent, type Streams } from '@cardea/event-store';
import type { Policy } from '@cardea/service';
import { exists, type UserEvent, users } from './user.ts';

/** Events of this version say it themselves. */
const TOLD_FROM_VERSION = 2;

export const announceVouched = (needs: {
  readonly streams: Streams;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
}): Policy => ({
  name: 'announce_vouched',
  on: ['UserRegistered', 'RolesChanged'],
  handle: async ({ schemaVersion, data, metadata: { tenantId } }: RecordedEvent) => {
    if (schemaVersion >= TOLD_FROM_VERSION) return;
    const { id } = data as unknown as { readonly id: string };
    const command = needs.systemCommand(tenantId, 'announce vouched', id);
    await needs.streams.decideOn(users, id, command, (user) => {
      if (!exists(user) || !user.vouched) return accept<UserEvent>();
      // They were before: nothing about the account changes today.
      return accept<UserEvent>({ type: 'UserVouched', data: { id, at: user.updatedAt } });
    });
  },
});
