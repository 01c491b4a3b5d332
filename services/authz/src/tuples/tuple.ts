/**
 * One relationship tuple, which can be written, deleted and written again. Its stream's id is a hash of tenant and
 * fields, so that two writers of one tuple use the same stream. Every event has all fields.
 */
import type { Stream } from '@cardea/event-store';
import type { Fields } from '../relations/relation.ts';

export type Tuple =
  | { readonly status: 'absent' }
  | { readonly status: 'standing'; readonly id: string; readonly createdAt: string };

export type TupleWritten = {
  readonly type: 'TupleWritten';
  readonly data: Fields & { readonly tuple_id: string; readonly created_at: string };
};
export type TupleDeleted = {
  readonly type: 'TupleDeleted';
  readonly data: Fields & { readonly tuple_id: string };
};
export type TupleEvent = TupleWritten | TupleDeleted;

export const tuples: Stream<Tuple, TupleEvent> = {
  noun: 'tuple',
  initial: { status: 'absent' },
  stateCarrying: true,
  evolve: (_tuple, { type, data }) => {
    switch (type) {
      case 'TupleWritten':
        return { status: 'standing', id: data.tuple_id, createdAt: data.created_at };
      case 'TupleDeleted':
        return { status: 'absent' };
    }
  },
};
