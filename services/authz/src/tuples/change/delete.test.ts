import { given, numberedId } from '@cardea/testing';
import { describe, it } from 'vitest';
import type { Fields } from '../../relations/relation.ts';
import { type TupleEvent, tuples } from '../tuple.ts';
import { deleteTuple } from './delete.ts';

const fields: Fields = {
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: 'plan',
};
const id = numberedId(1);
const written: TupleEvent = {
  type: 'TupleWritten',
  data: { tuple_id: id, ...fields, created_at: '2026-01-01T10:00:00.000Z' },
};
const deleted: TupleEvent = { type: 'TupleDeleted', data: { tuple_id: id, ...fields } };

describe('deleting a tuple', () => {
  it('names the id that it was written with', () => {
    given(tuples, written)
      .when((tuple) => deleteTuple(fields, tuple))
      .accepts(deleted);
  });

  it('changes nothing where it is not there', () => {
    given(tuples)
      .when((tuple) => deleteTuple(fields, tuple))
      .accepts();
    given(tuples, written, deleted)
      .when((tuple) => deleteTuple(fields, tuple))
      .accepts();
  });
});
