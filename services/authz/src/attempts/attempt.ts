/**
 * A write of an existing tuple, or a delete of a missing one: recorded, without effect. Each has its own
 * stream, because in the tuple's stream many equal requests would conflict on its revision.
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
