/** A user has a limited number of live sessions: each new one beyond it ends the least recently used ones. */
import type { Command, Recorded, Streams } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import { expiringCache } from '@cardea/runtime';
import { policy, type ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import { countAliveSessions, sessionsBeyond } from '../alive-sessions.ts';
import type { SessionEvent } from '../session.ts';
import type { ConsentEpoch } from '../validity-context.ts';
import { revokeOne } from './revoke-one.ts';

const ALIVE_MAX = 1_000;
const TABLE_WAIT_MS = 5_000;
/** The number of users whose remaining room is cached. The sessions of other users are counted. */
const KNOWN_USERS_MAX = 10_000;
/** How long a count is used, because another process may have run the policy in between. */
const COUNT_USED_MS = 60_000;

/** How many sessions a user may start before they are counted again, and how many have started so far. */
type Room = { left: number; started: number };

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'positions'> & {
  readonly streams: Streams;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly consentEpoch: ConsentEpoch;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

export function endLeastRecentSessions(needs: Dependencies) {
  const rooms = expiringCache<string, Room>(needs.clock, {
    entriesMax: KNOWN_USERS_MAX,
    ttlMs: COUNT_USED_MS,
  });
  return policy<SessionEvent>()({
    name: 'end_least_recent_sessions',
    on: {
      SessionStarted: async (event) => {
        const { user_id: userId } = event.data;
        const room = rooms.get(userId) ?? { left: 0, started: 0 };
        room.started += 1;
        room.left -= 1;
        if (room.left >= 0) return;
        rooms.set(userId, room);
        const before = room.started;
        const alive = await endBeyond(needs, event);
        // Sessions that started meanwhile may be missing in the count.
        room.left = ALIVE_MAX - alive - (room.started - before);
        rooms.set(userId, room);
      },
    },
  });
}

/** Ends the sessions beyond the limit. Returns the number of sessions before any of them was ended. */
async function endBeyond(
  needs: Dependencies,
  { position, data, metadata: { tenantId } }: Recorded<SessionEvent, 'SessionStarted'>,
): Promise<number> {
  if (!(await needs.positions.reached(['sessions'], position, TABLE_WAIT_MS))) {
    throw new NotCaughtUp('the sessions of a user are counted once the table has all of them');
  }
  const { user_id: userId } = data;
  const ofUser = { tenantId, userId, now: needs.clock.now() };
  const { all: alive } = await countAliveSessions(needs.database, ofUser);
  if (alive <= ALIVE_MAX) return alive;
  const ids = await sessionsBeyond(needs.database, { ...ofUser, kept: ALIVE_MAX });
  const user = await needs.userDirectory.byId(tenantId, userId);
  for (const sid of ids) {
    const command = needs.systemCommand(tenantId, 'too many sessions', sid);
    await revokeOne(needs, { tenantId, userId, user, sid, reason: 'limit' }, command);
  }
  return alive;
}
