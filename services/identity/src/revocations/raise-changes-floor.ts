/**
 * Raises the floor of changes each minute to where the log was a minute before, so that the entries of
 * single changes in the shared cache can run out: a copy counts once its keeper has come to the floor.
 */
import { CHANGES_FLOOR, CHANGES_FLOOR_TTL_MS } from '@cardea/auth';
import { CacheUnavailable } from '@cardea/runtime';
import { type Loop, type ServiceDependencies, sweeping } from '@cardea/service';

const EVERY_MS = 60_000;

export function raiseChangesFloor({
  cache,
  clock,
  store,
}: Pick<ServiceDependencies, 'cache' | 'clock' | 'store'>): Loop {
  let before: bigint | undefined;
  return sweeping({
    name: 'identity.changes-floor',
    everyMs: EVERY_MS,
    clock,
    sweep: async () => {
      const head = await store.head('identity');
      // A minute late: whoever keeps copies has usually come so far, and need not ask.
      if (before !== undefined) {
        await cache.raise(CHANGES_FLOOR, before, CHANGES_FLOOR_TTL_MS).catch(unlessAway);
      }
      before = head;
    },
  });
}

/** A cache that comes back empty is filled, and the floor with it. */
const unlessAway = (error: unknown): void => {
  if (!(error instanceof CacheUnavailable)) throw error;
};
