/** Runs the daily clean-up on one replica, at a random time in the hour from 03:00 UTC. */
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';
import { CLEANUP_DELAY_MS_MAX, dayOf, isCleanupDue } from './cleanup-time.ts';
import { type CleanupDependencies, removeOldRows } from './remove-old-rows.ts';

const LOOK_MS = 60_000;

export function cleanupLoop(
  needs: CleanupDependencies & Pick<ServiceDependencies, 'random'>,
): Loop {
  const { clock, database, random } = needs;
  const delayMs = Math.floor((random.bytes(4).readUInt32BE() / 2 ** 32) * CLEANUP_DELAY_MS_MAX);
  return sweeping({
    name: 'audit-cleanup',
    everyMs: LOOK_MS,
    clock,
    sweep: async (signal, tick) => {
      const now = clock.now();
      const { rows } = await database.system.query<{ day: string }>(
        'SELECT last_day::text AS day FROM audit.cleanup',
      );
      const lastDay = rows[0]?.day ?? '';
      if (!isCleanupDue({ now, lastDay, delayMs })) return;
      if (!(await removeOldRows(needs, now, { signal, tick }))) return;
      await database.system.query('UPDATE audit.cleanup SET last_day = $1', [dayOf(now)]);
    },
  });
}
