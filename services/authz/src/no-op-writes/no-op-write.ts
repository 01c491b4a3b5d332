/**
 * A write of an existing tuple, or a delete of a missing one. It is recorded without effect. Each has its own stream,
 * because in the tuple's stream many equal requests would conflict on its revision.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';
import type { Fields } from '../relations/relation.ts';

export type NoOpWriteEvent = {
  readonly type: 'TupleWriteRepeated' | 'TupleDeleteRepeated';
  readonly data: Fields & { readonly tuple_id: string | null };
};

export const noOpWrites: Stream<null, NoOpWriteEvent> = {
  // The noun of the first release, which stays because logs contain it.
  noun: 'attempt',
  initial: null,
  evolve: () => null,
};

/** Records the write once per command. */
export const recordNoOpWrite =
  (event: NoOpWriteEvent) =>
  (_state: null, revision: number): Decision<NoOpWriteEvent, never> =>
    revision > 0 ? accept() : accept(event);
