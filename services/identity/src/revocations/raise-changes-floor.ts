/**
 * Raises the floor of changes each minute to the log's position of a minute ago, so that entries of single changes in
 * the shared cache can expire. A cached copy is valid once its owner has read up to the floor.
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
      // The floor is a minute late because services with copies have usually read that far by then and need not ask.
      if (before !== undefined) {
        await cache.raise(CHANGES_FLOOR, before, CHANGES_FLOOR_TTL_MS).catch(unlessAway);
      }
      before = head;
    },
  });
}

/** A cache that comes back empty is refilled, including the floor. */
const unlessAway = (error: unknown): void => {
  if (!(error instanceof CacheUnavailable)) throw error;
};
