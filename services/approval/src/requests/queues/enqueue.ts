/** Decides from their queue whether an agent may send a user one more request. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import { COOL_DOWN_MS, OPEN_MAX } from '../limits.ts';
import { entriesAt, type Queue, type QueueChanged, type QueueEntry } from './queue.ts';

/** State of a request in a queue, as it was last read. */
export type Found =
  /**
   * The queue entry was written, but the stream was not. This is so after a crash and while the request is being
   * created.
   */
  | { readonly kind: 'unmade' }
  | { readonly kind: 'pending'; readonly expiresAt: string }
  /** The request is approved, and a vend may still consume the approval. */
  | { readonly kind: 'usable' }
  | { readonly kind: 'denied'; readonly at: string }
  | { readonly kind: 'over' };

export type Ask = {
  readonly entry: QueueEntry;
  readonly now: Date;
  readonly found: ReadonlyMap<string, Found>;
};

export type EnqueueOutcome =
  | { readonly outcome: 'enqueued' }
  /** The decision depends on an entry whose request was not read. */
  | { readonly outcome: 'look_again' }
  | { readonly outcome: 'joined'; readonly requestId: string }
  | { readonly outcome: 'cooling_down'; readonly until: Date }
  | { readonly outcome: 'muted'; readonly until: Date }
  | { readonly outcome: 'rate_limited'; readonly until: Date };

export function enqueueOutcome(ask: Ask, queue: Queue): EnqueueOutcome {
  const { entry, now, found } = ask;
  const open = entriesAt(queue, now);
  const same = twinOf(entry, open);
  if (same !== undefined) {
    const met = meet(same, found.get(same.request_id), now);
    if (met !== undefined) return met;
  }
  const mutedUntil = queue.muted_until === null ? undefined : new Date(queue.muted_until);
  if (mutedUntil !== undefined && mutedUntil > now) return { outcome: 'muted', until: mutedUntil };
  return roomFor(
    open.filter((other) => other !== same),
    ask,
  );
}

/** Whether one entry is the same request sent again, or a request for the same vend. */
export const isTwin = (entry: QueueEntry, other: QueueEntry): boolean =>
  other.request_id === entry.request_id ||
  (entry.digest !== undefined && other.digest === entry.digest);

const twinOf = (entry: QueueEntry, open: readonly QueueEntry[]) =>
  open.find((other) => isTwin(entry, other));

/**
 * The outcome for a request with the same digest. Undefined if the earlier request is over and a new one replaces it.
 */
function meet(same: QueueEntry, found: Found | undefined, now: Date): EnqueueOutcome | undefined {
  switch (found?.kind) {
    case undefined:
      return { outcome: 'look_again' };
    case 'unmade':
    case 'pending':
    case 'usable':
      return { outcome: 'joined', requestId: same.request_id };
    case 'denied': {
      const until = new Date(Date.parse(found.at) + COOL_DOWN_MS);
      return until > now ? { outcome: 'cooling_down', until } : undefined;
    }
    case 'over':
      return undefined;
  }
}

function roomFor(others: readonly QueueEntry[], { found, now }: Ask): EnqueueOutcome {
  if (others.length < OPEN_MAX) return { outcome: 'enqueued' };
  if (others.some(({ request_id: id }) => !found.has(id))) return { outcome: 'look_again' };
  const ends = others.flatMap(({ request_id: id, until }) => {
    const one = found.get(id);
    if (one?.kind === 'pending') return [Date.parse(one.expiresAt)];
    return one?.kind === 'unmade' ? [Date.parse(until)] : [];
  });
  if (ends.length < OPEN_MAX) return { outcome: 'enqueued' };
  return { outcome: 'rate_limited', until: new Date(Math.max(Math.min(...ends), now.getTime())) };
}

/**
 * Removes entries that are over. Denied entries stay during their cool-down, and usable ones stay so that they can be
 * joined.
 */
export function enqueue(
  ask: Ask,
  queue: Queue,
): Decision<QueueChanged, Exclude<EnqueueOutcome['outcome'], 'enqueued'>> {
  const { outcome } = enqueueOutcome(ask, queue);
  if (outcome !== 'enqueued') return refuse(outcome);
  const open = entriesAt(queue, ask.now);
  const kept = open.filter(
    (other) =>
      other !== twinOf(ask.entry, open) && ask.found.get(other.request_id)?.kind !== 'over',
  );
  return accept({ type: 'QueueChanged', data: { ...queue, open: [...kept, ask.entry] } });
}
