/**
 * One relationship tuple: written, deleted, written again. Its stream's id is a hash of tenant and fields,
 * so that two writers of one tuple use the same stream; every event has all its fields.
 */
import type { Stream } from '@cardea/event-store';
import type { Fields } from './relation.ts';

export {
  type Fields,
  fieldsOf,
  isWildcardParent,
  relationOf,
} from './relation.ts';

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

/**
 * The fields in a recorded event; throws if they are not in the written form, so that its stream is parked.
 */
export function readFields(data: { readonly [field: string]: unknown }): Fields {
  const { user_type, user_id, relation, object_type, object_id } = data;
  const texts = [user_type, user_id, object_type, object_id];
  if (![...texts, relation].every((text) => typeof text === 'string')) {
    throw new UnreadableTuple();
  }
  return { user_type, user_id, relation, object_type, object_id } as Fields;
}

/** An event of a tuple's stream that cannot be read as one. */
export class UnreadableTuple extends Error {
  override readonly name = 'UnreadableTuple';
}
