import { describe, expect, it } from 'vitest';
import { orNull } from './columns.ts';
import { computed, selection } from './selection.ts';

const KEY = selection({ id: 'uuid', offset: 'bigint', name: orNull('text') });

describe('a selection', () => {
  it('lists its columns, with quotes around keywords', () => {
    expect(KEY.columns).toBe('id, "offset", name');
  });

  it('lists them under an alias', () => {
    expect(KEY.of('k').columns).toBe('k.id, k."offset", k.name');
  });

  it('lists the columns of a join in order', () => {
    const total = computed('total', 'sum(k.n)', 'bigint');
    expect(KEY.of('k').and(total).columns).toBe('k.id, k."offset", k.name, sum(k.n) AS total');
  });
});
