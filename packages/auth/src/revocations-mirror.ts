/** This process's copy of the revocation list: a lookup costs no round trip. */
import type { Clock } from '@cardea/runtime';
import type { RevocationKind } from './principal.ts';

/** Beyond it the oldest go, and are looked up live where it matters. */
const MARKS_MAX = 500_000;
/** A revocation of these kinds may be withdrawn, and the message of that may be missed. */
const REVERSIBLE: readonly RevocationKind[] = ['user', 'agent'];

export interface Mirror {
  /** The latest time of a `rank` counts. */
  add(kind: RevocationKind, id: string, at?: number): void;
  remove(kind: RevocationKind, id: string): void;
  has(kind: RevocationKind, id: string, at?: number): boolean;
  /** A point in the order in which revocations were added. */
  now(): number;
  /** Drops what could have been taken back and was not added since. */
  dropUntold(since: number): void;
}

export const revocationKey = (kind: RevocationKind, id: string): string => `rev:${kind}:${id}`;

/** The order of the map is the order in which the revocations end. */
export function mirror(clock: Pick<Clock, 'monotonicMs'>, ttlMs: number): Mirror {
  type Held = {
    readonly endsMs: number;
    readonly kind: RevocationKind;
    readonly added: number;
    readonly at: number;
  };
  const held = new Map<string, Held>();
  let added = 0;
  const dropEnded = (): void => {
    for (const [key, { endsMs }] of held) {
      if (endsMs > clock.monotonicMs() && held.size <= MARKS_MAX) return;
      held.delete(key);
    }
  };
  return {
    add: (kind, id, time = 0) => {
      const key = revocationKey(kind, id);
      const at = Math.max(time, held.get(key)?.at ?? 0);
      added += 1;
      held.delete(key);
      held.set(key, { endsMs: clock.monotonicMs() + ttlMs, kind, added, at });
      dropEnded();
    },
    remove: (kind, id) => {
      held.delete(revocationKey(kind, id));
    },
    has: (kind, id, at = 0) => {
      const mark = held.get(revocationKey(kind, id));
      if (mark === undefined || mark.endsMs <= clock.monotonicMs()) return false;
      return kind !== 'rank' || at < mark.at;
    },
    now: () => added,
    dropUntold: (since) => {
      for (const [key, mark] of held) {
        if (mark.added <= since && REVERSIBLE.includes(mark.kind)) held.delete(key);
      }
    },
  };
}
