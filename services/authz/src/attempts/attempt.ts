/**
 * A write of a tuple that stood already, or a delete of one that did not: asked for, recorded, without
 * effect. Each has a stream of its own, for in the tuple's many equal requests would fight for its
 * revision.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';
import type { Fields } from '../tuples/relation.ts';

export type AttemptEvent = {
  readonly type: 'TupleWriteRepeated' | 'TupleDeleteRepeated';
  readonly data: Fields & { readonly tuple_id: string | null };
};

export const attempts: Stream<null, AttemptEvent> = {
  noun: 'attempt',
  initial: null,
  evolve: () => null,
};

/** Once per command. */
export const attempt =
  (event: AttemptEvent) =>
  (_state: null, revision: number): Decision<AttemptEvent, never> =>
    revision > 0 ? accept() : accept(event);
