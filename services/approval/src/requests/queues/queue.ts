/**
 * The state between one agent and one user: open requests, recent denials, and whether the agent is muted. It is one
 * small state, so that all requests of the agent are decided on the same data.
 */
import { crockford, sha256Of } from '@cardea/crypto';
import type { Stream } from '@cardea/event-store';

export type QueueEntry = {
  /** The digest of a vend. A request that an agent made itself has none. */
  readonly digest?: string;
  readonly resource?: string;
  readonly request_id: string;
  /** The time until which the entry can affect a decision. */
  readonly until: string;
};
export type Queue = {
  readonly open: readonly QueueEntry[];
  readonly denials: readonly string[];
  readonly muted_until: string | null;
};
export type QueueChanged = {
  readonly type: 'QueueChanged';
  readonly concerns?: never;
  readonly data: Queue;
};

export const queues: Stream<Queue, QueueChanged> = {
  noun: 'queue',
  initial: { open: [], denials: [], muted_until: null },
  stateCarrying: true,
  evolve: (_before, { data }) => data,
};

export const queueIdOf = (of: {
  readonly tenantId: string;
  readonly agentId: string;
  readonly userId: string;
}): string => crockford(sha256Of(of.tenantId, of.agentId, of.userId)).toLowerCase();

export const entriesAt = (queue: Queue, now: Date): readonly QueueEntry[] =>
  queue.open.filter(({ until }) => Date.parse(until) > now.getTime());
