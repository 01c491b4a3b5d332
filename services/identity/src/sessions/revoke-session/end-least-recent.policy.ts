/** A user has a limited number of live sessions: each new one beyond it ends the least recently used ones. */
import type { Command, Recorded, Streams } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import { policy, type ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import { sessionsBeyond } from '../alive-sessions.ts';
import type { SessionEvent } from '../session.ts';
import type { ConsentEpoch } from '../validity-context.ts';
import { revokeOne } from './revoke-one.ts';

const ALIVE_MAX = 1_000;
const TABLE_WAIT_MS = 5_000;

type Dependencies = Pick<ServiceDependencies, 'clock' | 'database' | 'positions'> & {
  readonly streams: Streams;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly consentEpoch: ConsentEpoch;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
};

export const endLeastRecentSessions = (needs: Dependencies) =>
  policy<SessionEvent>()({
    name: 'end_least_recent_sessions',
    on: {
      SessionStarted: (event) => endBeyond(needs, event),
    },
  });

async function endBeyond(
  needs: Dependencies,
  { position, data, metadata: { tenantId } }: Recorded<SessionEvent, 'SessionStarted'>,
): Promise<void> {
  if (!(await needs.positions.reached(['sessions'], position, TABLE_WAIT_MS))) {
    throw new NotCaughtUp('the sessions of a user are counted once the table has all of them');
  }
  const { user_id: userId } = data;
  const now = needs.clock.now();
  const ids = await sessionsBeyond(needs.database, { tenantId, userId, now, kept: ALIVE_MAX });
  if (ids.length === 0) return;
  const user = await needs.userDirectory.byId(tenantId, userId);
  for (const sid of ids) {
    const command = needs.systemCommand(tenantId, 'too many sessions', sid);
    await revokeOne(needs, { tenantId, userId, user, sid, reason: 'limit' }, command);
  }
}
