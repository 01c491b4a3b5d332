import { given, numberedId } from '@cardea/testing';
import { describe, it } from 'vitest';
import type { Fields } from '../../relations/relation.ts';
import { type TupleEvent, tuples } from '../tuple.ts';
import { write } from './write.ts';

const fields: Fields = {
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: 'plan',
};
const now = new Date('2026-01-01T10:00:00.000Z');
const written = (id: string): TupleEvent => ({
  type: 'TupleWritten',
  data: { tuple_id: id, ...fields, created_at: now.toISOString() },
});
const deleted = (id: string): TupleEvent => ({
  type: 'TupleDeleted',
  data: { tuple_id: id, ...fields },
});
const first = numberedId(1);
const second = numberedId(2);

describe('a tuple', () => {
  it('is written once', () => {
    given(tuples)
      .when((tuple) => write({ id: first, fields, now }, tuple))
      .accepts(written(first));
    given(tuples, written(first))
      .when((tuple) => write({ id: second, fields, now }, tuple))
      .accepts();
  });

  it('is another one when it is written again after its deletion', () => {
    given(tuples, written(first), deleted(first))
      .when((tuple) => write({ id: second, fields, now }, tuple))
      .accepts(written(second));
  });
});
