import { describe, expect, it } from 'vitest';
import type { Fields } from '../relations/relation.ts';
import { faultsOf } from './change-batch.ts';

const viewer: Fields = {
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: 'plan',
};
const editor: Fields = { ...viewer, relation: 'editor' };

describe('a batch of changes', () => {
  it('may change different tuples of the same pair', () => {
    expect(faultsOf({ writes: [viewer], deletes: [editor] })).toEqual([]);
  });

  it('names no tuple twice, not even to write and to delete it', () => {
    expect(faultsOf({ writes: [viewer, editor, viewer], deletes: [editor] })).toEqual([
      { field: 'writes.2', rule: 'repeated' },
      { field: 'deletes.0', rule: 'repeated' },
    ]);
  });

  it('makes nothing the parent of everything', () => {
    const parent: Fields = { ...viewer, user_id: '*', relation: 'parent' };
    expect(faultsOf({ writes: [viewer], deletes: [parent] })).toEqual([
      { field: 'deletes.0.user_id', rule: 'wildcard' },
    ]);
  });
});
