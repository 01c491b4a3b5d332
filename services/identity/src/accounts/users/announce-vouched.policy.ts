/**
 * Other services learn only from events for whom administrators vouch. For users created before that event
 * existed it is recorded once each.
 */
import { accept, type Command, ignored, type Recorded, type Streams } from '@cardea/event-store';
import { policy } from '@cardea/service';
import { exists, type UserEvent, users } from './user.ts';

/** Events recorded in this version contain it themselves. */
const TOLD_FROM_VERSION = 2;

type Dependencies = {
  readonly streams: Streams;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

export const announceVouched = (needs: Dependencies) =>
  policy<UserEvent>()({
    name: 'announce_vouched',
    on: {
      UserRegistered: (event) => announce(needs, event),
      RolesChanged: (event) => announce(needs, event),
      UserDeleted: ignored('nobody learns any more who vouched for them'),
    },
  });

async function announce(
  needs: Dependencies,
  event: Recorded<UserEvent, 'UserRegistered' | 'RolesChanged'>,
): Promise<void> {
  const { recordedVersion = event.schemaVersion, data, metadata } = event;
  if (recordedVersion >= TOLD_FROM_VERSION) return;
  const { id } = data;
  const command = needs.systemCommand(metadata.tenantId, 'announce vouched', id);
  await needs.streams.decideOn(users, id, command, (user) => {
    if (!exists(user) || !user.vouched) return accept<UserEvent>();
    // They were vouched for before, so the account's time of change stays.
    return accept<UserEvent>({ type: 'UserVouched', data: { id, at: user.updatedAt } });
  });
}
