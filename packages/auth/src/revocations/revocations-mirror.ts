/** This process's copy of the revocation list, in which a lookup costs no round trip. */
import { randomUUID } from 'node:crypto';
import type { Cache, Clock } from '@cardea/runtime';
import { isTimed, type RevocationKind } from '../principal.ts';
import { QUESTIONS, writeNotice } from './revocations-notice.ts';

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

/** Tracks whether every published revocation has been received, and what to request if some may have been missed. */

export type Hearing = ReturnType<typeof hearingOf>;

export function hearingOf({ cache }: { readonly cache: Cache }, list: Mirror) {
  /** A cache inside the process loses no message. */
  let whole = cache.mode === 'in_process';
  let disconnected = false;
  let losses = 0;
  let question: { readonly name: string; readonly since: number } | undefined;
  return {
    isDisconnected: () => disconnected,
    subscriptionEpoch: () => (whole ? losses : undefined),
    lost: (): void => {
      disconnected = true;
      whole = false;
      losses += 1;
      question = undefined;
    },
    healed: (): void => {
      disconnected = false;
    },
    ask: async (): Promise<void> => {
      question ??= { name: randomUUID(), since: list.now() };
      await cache.publish(QUESTIONS, writeNotice({ word: '?', names: [question.name] }));
    },
    confirmed: (names: readonly string[]): void => {
      if (question === undefined || !names.includes(question.name)) return;
      list.dropUnconfirmed(question.since);
      whole = true;
      question = undefined;
    },
    /** Records that all revocations were read from the tables, starting when the number of losses was `lossesThen`. */
    filled: (since: number, lossesThen: number): void => {
      if (disconnected || losses !== lossesThen) return;
      list.dropUnconfirmed(since);
      whole = true;
    },
    losses: () => losses,
  };
}
