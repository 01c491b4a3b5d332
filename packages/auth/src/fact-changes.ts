/**
 * Facts of identity that other services cache. Before a call that changes one is answered, the position of the change
 * is written to the shared cache. So other services can see that a copy may be outdated.
 */
import { randomUUID } from 'node:crypto';
import type { Cache } from '@cardea/runtime';

export type FactKind = 'agent' | 'agent_session' | 'user';

/** One event of identity's log that changed a fact. */
export type FactChange = {
  readonly tenantId: string;
  readonly kind: FactKind;
  readonly id: string;
  readonly position: bigint;
  /** Whether the change removes authority. If so, all facts of the tenant that processes have cached become void. */
  readonly narrows: boolean;
};

/** The cache key of the position of the last change. A copy from earlier events is outdated. */
export const changedKey = (kind: FactKind, id: string): string => `${kind}:changed:${id}`;
/** The cache key of a random value that is replaced at each change that narrows authority. */
export const authorityKey = (tenantId: string): string => `vault:authority:${tenantId}`;
/**
 * The cache key of a position in identity's log. Changes up to this position may have no entry of their own, because
 * the cache was lost after they were written. A copy is valid once its owner has applied identity's events up to this
 * position.
 */
export const CHANGES_FLOOR = 'identity:changed:through';

/** An entry lives far longer than identity needs to raise the floor past its change. */
export const CHANGED_TTL_MS = 2 * 3_600_000;
/** Identity raises the floor each minute, so the floor expires only after a long outage. */
export const CHANGES_FLOOR_TTL_MS = 7 * 24 * 3_600_000;
/** The value lives far longer than any process caches data under it. */
const AUTHORITY_TTL_MS = 600_000;

/**
 * Writes the position before the epoch, because a process that reads the new epoch and then loads facts must find the
 * position.
 */
export async function tellChange(cache: Cache, change: FactChange): Promise<void> {
  const { tenantId, kind, id, position, narrows } = change;
  await cache.raise(changedKey(kind, id), position, CHANGED_TTL_MS);
  if (narrows) await cache.set(authorityKey(tenantId), randomUUID(), AUTHORITY_TTL_MS);
}
