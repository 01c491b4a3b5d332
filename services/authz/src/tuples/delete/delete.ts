import { accept, type Decision } from '@cardea/event-store';
import type { Fields, Tuple, TupleDeleted } from '../tuple.ts';

/** Exactly this tuple and no other; one that is not there stays away. */
export function deleteTuple(fields: Fields, tuple: Tuple): Decision<TupleDeleted, never> {
  if (tuple.status === 'absent') return accept();
  return accept({ type: 'TupleDeleted', data: { tuple_id: tuple.id, ...fields } });
}
