/**
 * Facts of identity that other services keep copies of. Before a call that changes one answers, the
 * position of the change is written to the shared cache, so that the others can see that a copy may be
 * too old.
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
  /** True when less is allowed after it: then whatever processes cache of the tenant's facts is void. */
  readonly narrows: boolean;
};

/** Holds the position of the last change; a copy that was made of earlier events is too old. */
export const changedKey = (kind: FactKind, id: string): string => `${kind}:changed:${id}`;
/** Holds another random value after each change that narrows. */
export const authorityKey = (tenantId: string): string => `vault:authority:${tenantId}`;
/**
 * Changes up to the position that it holds may stand under no key of their own, since the cache was lost
 * after them: a copy counts once its keeper has applied identity's events up to there.
 */
export const CHANGES_FLOOR = 'identity:changed:through';

/** Far longer than it takes identity to raise the floor past the change. */
export const CHANGED_TTL_MS = 2 * 3_600_000;
/** Raised each minute. */
export const CHANGES_FLOOR_TTL_MS = 7 * 24 * 3_600_000;
/** This time is far longer than any process caches under one value. */
const AUTHORITY_TTL_MS = 600_000;

/** The position first: who reads the new epoch and then loads what it keeps must find it. */
export async function tellChange(cache: Cache, change: FactChange): Promise<void> {
  const { tenantId, kind, id, position, narrows } = change;
  await cache.raise(changedKey(kind, id), position, CHANGED_TTL_MS);
  if (narrows) await cache.set(authorityKey(tenantId), randomUUID(), AUTHORITY_TTL_MS);
}
