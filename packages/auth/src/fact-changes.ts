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
  /** Whether less is allowed after it. Then everything that processes cache of the tenant's facts is void. */
  readonly narrows: boolean;
};

/** The cache key of the position of the last change. A copy from earlier events is outdated. */
export const changedKey = (kind: FactKind, id: string): string => `${kind}:changed:${id}`;
/** The cache key of a random value that is replaced at each change that narrows authority. */
export const authorityKey = (tenantId: string): string => `vault:authority:${tenantId}`;
/**
 * The cache key of a position. Changes up to it may have no entry of their own, because the cache was lost after them.
 * A copy is valid once its owner has applied identity's events up to it.
 */
export const CHANGES_FLOOR = 'identity:changed:through';

/** Far longer than identity needs to raise the floor past the change. */
export const CHANGED_TTL_MS = 2 * 3_600_000;
/** The floor is raised each minute. */
export const CHANGES_FLOOR_TTL_MS = 7 * 24 * 3_600_000;
/** Far longer than any process caches under one value. */
const AUTHORITY_TTL_MS = 600_000;

/** Writes the position first. A process that reads the new epoch and then loads facts must find it. */
export async function tellChange(cache: Cache, change: FactChange): Promise<void> {
  const { tenantId, kind, id, position, narrows } = change;
  await cache.raise(changedKey(kind, id), position, CHANGED_TTL_MS);
  if (narrows) await cache.set(authorityKey(tenantId), randomUUID(), AUTHORITY_TTL_MS);
}
