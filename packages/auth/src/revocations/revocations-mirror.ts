/** This process's copy of the revocation list, in which a lookup costs no round trip. */
import type { Clock } from '@cardea/runtime';
import { isTimed, type RevocationKind } from '../principal.ts';

/**
 * The maximum number of entries. If there are more, the oldest are dropped, and are looked up live where it matters.
 */
const REVOCATIONS_MAX = 500_000;
/** Revocations of these kinds may be withdrawn, and the message about that may be missed. */
const REVERSIBLE: readonly RevocationKind[] = ['user', 'agent'];

export interface Mirror {
  /** For timed kinds, the latest time counts. */
  add(kind: RevocationKind, id: string, at?: number): void;
  remove(kind: RevocationKind, id: string): void;
  has(kind: RevocationKind, id: string, at?: number): boolean;
  /** The current position in the order of additions. */
  now(): number;
  /** Drops entries of reversible kinds that were not added since that position. */
  dropUnconfirmed(since: number): void;
}

export const revocationKey = (kind: RevocationKind, id: string): string => `rev:${kind}:${id}`;

/** The order of the map is the order in which the revocations expire. */
export function mirror(clock: Pick<Clock, 'monotonicMs'>, ttlMs: number): Mirror {
  type Entry = {
    readonly endsMs: number;
    readonly kind: RevocationKind;
    readonly added: number;
    readonly at: number;
  };
  const entries = new Map<string, Entry>();
  let added = 0;
  const dropEnded = (): void => {
    for (const [key, { endsMs }] of entries) {
      if (endsMs > clock.monotonicMs() && entries.size <= REVOCATIONS_MAX) return;
      entries.delete(key);
    }
  };
  return {
    add: (kind, id, time = 0) => {
      const key = revocationKey(kind, id);
      const at = Math.max(time, entries.get(key)?.at ?? 0);
      added += 1;
      entries.delete(key);
      entries.set(key, { endsMs: clock.monotonicMs() + ttlMs, kind, added, at });
      dropEnded();
    },
    remove: (kind, id) => {
      entries.delete(revocationKey(kind, id));
    },
    has: (kind, id, at = 0) => {
      const revocation = entries.get(revocationKey(kind, id));
      if (revocation === undefined || revocation.endsMs <= clock.monotonicMs()) return false;
      return !isTimed(kind) || at < revocation.at;
    },
    now: () => added,
    dropUnconfirmed: (since) => {
      for (const [key, revocation] of entries) {
        if (revocation.added <= since && REVERSIBLE.includes(revocation.kind)) entries.delete(key);
      }
    },
  };
}
