/** The marks as this process has heard of them: a look costs no round trip. */
import type { Clock } from '@cardea/runtime';
import type { RevocationKind } from './principal.ts';

/** Beyond it the oldest go, and are looked up live where it matters. */
const MARKS_MAX = 500_000;
/** A mark of these may be taken back, and the word of that may be missed. */
const REVERSIBLE: readonly RevocationKind[] = ['user', 'agent'];

export interface Mirror {
  add(kind: RevocationKind, id: string): void;
  remove(kind: RevocationKind, id: string): void;
  has(kind: RevocationKind, id: string): boolean;
  /** A point in the order in which marks were added. */
  now(): number;
  /** Drops what could have been taken back and was not added since. */
  dropUntold(since: number): void;
}

export const markKey = (kind: RevocationKind, id: string): string => `rev:${kind}:${id}`;

/** The order of the map is the order in which the marks end. */
export function mirror(clock: Pick<Clock, 'monotonicMs'>, ttlMs: number): Mirror {
  type Held = { readonly endsMs: number; readonly kind: RevocationKind; readonly added: number };
  const held = new Map<string, Held>();
  let added = 0;
  const dropEnded = (): void => {
    for (const [key, { endsMs }] of held) {
      if (endsMs > clock.monotonicMs() && held.size <= MARKS_MAX) return;
      held.delete(key);
    }
  };
  return {
    add: (kind, id) => {
      const key = markKey(kind, id);
      added += 1;
      held.delete(key);
      held.set(key, { endsMs: clock.monotonicMs() + ttlMs, kind, added });
      dropEnded();
    },
    remove: (kind, id) => {
      held.delete(markKey(kind, id));
    },
    has: (kind, id) => (held.get(markKey(kind, id))?.endsMs ?? 0) > clock.monotonicMs(),
    now: () => added,
    dropUntold: (since) => {
      for (const [key, mark] of held) {
        if (mark.added <= since && REVERSIBLE.includes(mark.kind)) held.delete(key);
      }
    },
  };
}
