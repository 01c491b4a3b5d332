import { accept, type Decision } from '@cardea/event-store';
import type { Fields } from '../../relations/relation.ts';
import type { Tuple, TupleWritten } from '../tuple.ts';

export type Write = { readonly id: string; readonly fields: Fields; readonly now: Date };

/** Writes the tuple. An existing one is unchanged: it keeps its id and its age. */
export function write({ id, fields, now }: Write, tuple: Tuple): Decision<TupleWritten, never> {
  if (tuple.status === 'standing') return accept();
  const data = { tuple_id: id, ...fields, created_at: now.toISOString() };
  return accept({ type: 'TupleWritten', data });
}
