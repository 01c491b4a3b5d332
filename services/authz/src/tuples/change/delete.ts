import { accept, type Decision } from '@cardea/event-store';
import type { Fields } from '../../relations/relation.ts';
import type { Tuple, TupleDeleted } from '../tuple.ts';

/** Deletes exactly this tuple. Deleting a missing one changes nothing. */
export function deleteTuple(fields: Fields, tuple: Tuple): Decision<TupleDeleted, never> {
  if (tuple.status === 'absent') return accept();
  return accept({ type: 'TupleDeleted', data: { tuple_id: tuple.id, ...fields } });
}
