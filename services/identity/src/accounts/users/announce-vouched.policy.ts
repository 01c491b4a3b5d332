/**
 * Records once per user that an administrator vouches for them, for users created before this event existed. Other
 * services learn it only from this event.
 */
import { accept, type Command, ignored, type Recorded, type Streams } from '@cardea/event-store';
import { policy } from '@cardea/service';
import { exists, type UserEvent, users } from './user.ts';

/** Events of this and later versions contain the fact themselves. */
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
    // The vouching is older, so the account's time of change stays.
    return accept<UserEvent>({ type: 'UserVouched', data: { id, at: user.updatedAt } });
  });
}
