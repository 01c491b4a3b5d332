import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { naiveIndex } from '../../test/naive-index.ts';
import type { Fields } from '../relations/relation.ts';
import { finished, newTupleIndex } from './tuple-index.ts';

type Case = {
  name: string;
  tuples: Fields[];
  checks: (Fields & { expect: boolean })[];
};

const cases: Case[] = JSON.parse(
  readFileSync(new URL('../../test/data/fga-semantics-cases.json', import.meta.url), 'utf8'),
);

describe.each([
  { engine: 'index', make: newTupleIndex },
  { engine: 'naive evaluator', make: naiveIndex },
])('authz 1 every row of the semantics table on the $engine', ({ make }) => {
  it.each(cases)('$name', ({ tuples, checks }) => {
    const index = make();
    for (const tuple of tuples) index.write(tuple);

    for (const { expect: allowed, ...fields } of checks) {
      expect({ ...fields, allowed: finished(index.check(fields)).allowed }).toEqual({
        ...fields,
        allowed,
      });
      const { object_id, ...question } = fields;
      expect(finished(index.filter(question, [object_id]))).toEqual([allowed]);
      const listed = finished(index.listObjects(question));
      expect(listed.includes(object_id)).toBe(allowed);
    }
  });
});

it('authz 1 the table holds its 129 checks', () => {
  expect(cases.flatMap(({ checks }) => checks)).toHaveLength(129);
});
