/**
 * Erases keys of a day when their retention ends. Then nobody can decrypt what was encrypted with them, in the log and
 * in all its copies. Each service does this for its own keys.
 */
import { eraseKeysOfDays } from '@cardea/read-models';
import { failpoint } from '@cardea/runtime';
import { sweeping } from '../limits/sweeping.ts';
import type { Loop, ServiceDefinition, ServiceDependencies } from '../service.ts';

const DAY_MS = 24 * 3600_000;
const KEPT_DAYS = {
  /** Address and user agent of the request that caused an event, kept for the longest retention of an audit row. */
  context: 366,
  /** Addresses for which mail was requested. They may belong to no account. */
  transient: 7,
} as const;

type Dependencies = Pick<ServiceDependencies, 'database' | 'clock' | 'log'>;

export const dayKeyErasure = (
  { name }: Pick<ServiceDefinition, 'name'>,
  needs: Dependencies,
): Loop =>
  sweeping({
    name: `${name}-day-keys`,
    everyMs: DAY_MS,
    clock: needs.clock,
    sweep: (signal, tick) => eraseDayKeys(name, needs, { signal, tick }),
  });

async function eraseDayKeys(
  schema: string,
  { database, clock, log }: Dependencies,
  { signal, tick }: { readonly signal: AbortSignal; readonly tick: () => void },
): Promise<void> {
  const nowMs = clock.now().getTime();
  for (const [kind, days] of Object.entries(KEPT_DAYS)) {
    const before = new Date(nowMs - days * DAY_MS).toISOString().slice(0, 10);
    let erased = 0;
    for (let last = -1; last !== 0 && !signal.aborted; erased += last) {
      tick();
      last = await eraseKeysOfDays(database, schema, { kind, before });
      if (last > 0) await failpoint('erase.after_key');
    }
    if (erased > 0) log.info({ kind, erased }, 'keys of days that are over were erased');
  }
}
