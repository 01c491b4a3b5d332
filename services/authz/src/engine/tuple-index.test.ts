import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { naiveIndex } from '../../test/naive-index.ts';
import { type Fields, RELATIONS } from '../relations/relation.ts';
import { newScratch } from './closure.ts';
import {
  EvaluationBudgetExceeded,
  finished,
  newTupleIndex,
  type TupleIndex,
  type Walk,
} from './tuple-index.ts';

const GRAPHS = 2_000;
/** This is the only slow unit test, because the naive evaluator tries every path. */
const GRAPHS_MS = 60_000;

/** Parses `user:alice viewer document:d` into five fields. */
function tuple(text: string): Fields {
  const [subject, relation, object] = text.split(' ') as [string, Fields['relation'], string];
  const [user_type, user_id] = subject.split(':') as [string, string];
  const [object_type, object_id] = object.split(':') as [string, string];
  return { user_type, user_id, relation, object_type, object_id };
}

function given(...tuples: string[]): TupleIndex {
  const index = newTupleIndex();
  for (const text of tuples) index.write(tuple(text));
  return index;
}

const subjects: readonly (readonly [string, string])[] = [
  ['user', 'a'],
  ['user', 'b'],
  ['user', '*'],
  ['agent', 'a'],
  ['agent', '*'],
  ['group', 'g'],
  ['group', '\u{10000}'],
  ['group', '*'],
  ['folder', 'f'],
];
const objects: readonly (readonly [string, string])[] = [
  ['group', 'g'],
  ['group', '\u{10000}'],
  ['group', '\ue000'],
  ['folder', 'f'],
  ['folder', 'odd id "1"'],
  ['document', 'd'],
  ['document', '\ue000'],
  ['user', 'a'],
];
const anyFields: fc.Arbitrary<Fields> = fc
  .record({
    subject: fc.constantFrom(...subjects),
    relation: fc.constantFrom(...RELATIONS, 'member', 'parent', 'member' as const),
    object: fc.constantFrom(...objects),
  })
  .map(({ subject, relation, object }) => ({
    user_type: subject[0],
    user_id: subject[1],
    relation: relation as Fields['relation'],
    object_type: object[0],
    object_id: object[1],
  }));
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
/** Each world is larger than what is read between two pauses. */
const wideWorlds = [
  {
    name: 'one group of many',
    tuples: [
      ...numbers(20_000).map((at) => `user:a member group:${at}`),
      'group:19999 viewer document:d',
    ],
    pausesMin: 9,
    allowed: true,
  },
  {
    name: 'a chain of groups that ends in a circle',
    tuples: [
      ...numbers(20_000).map(
        (at) => `${at === 0 ? 'user:a' : `group:${at - 1}`} member group:${at % 19_999}`,
      ),
      'user:z viewer document:d',
    ],
    pausesMin: 9,
    allowed: false,
  },
  {
    name: 'many parents',
    tuples: [
      ...numbers(20_000).map((at) => `folder:${at} parent document:d`),
      'user:a viewer folder:19999',
    ],
    pausesMin: 9,
    allowed: true,
  },
  {
    name: 'many groups that hold grants, on an object with as many grants for others',
    tuples: [
      ...numbers(20_000).map((at) => `user:a member group:${at}`),
      ...numbers(20_000).map((at) => `group:${at} viewer document:x`),
      ...numbers(20_000).map((at) => `user:z${at} viewer document:d`),
    ],
    pausesMin: 18,
    allowed: false,
  },
] as const;
const anyGraph = fc.array(fc.tuple(fc.boolean(), fc.boolean(), anyFields), { maxLength: 22 });

describe('the index', () => {
  it(
    'authz 2, 23 answers every question on a small graph as the naive evaluator does',
    () => {
      const questions = fc.array(anyFields, { minLength: 12, maxLength: 12 });
      fc.assert(
        fc.property(anyGraph, questions, (changes, asked) => {
          const index = newTupleIndex();
          const oracle = naiveIndex();
          for (const [one, other, fields] of changes) {
            for (const engine of [index, oracle]) {
              if (one || other) engine.write(fields);
              else engine.delete(fields);
            }
          }
          expect(index.size).toBe(oracle.size);
          for (const fields of asked) {
            expect({ fields, ...finished(index.check(fields)) }).toEqual({
              fields,
              ...finished(oracle.check(fields)),
            });
            expect(finished(index.explain(fields))).toEqual(finished(oracle.explain(fields)));
          }
          for (const { user_id: _, ...question } of asked.slice(0, 4)) {
            expect(finished(index.listUsers(question))).toEqual(
              finished(oracle.listUsers(question)),
            );
          }
          for (const { object_id, ...question } of asked.slice(0, 4)) {
            const ids = ['d', 'g', object_id, 'f', '\u{10000}', 'unknown', object_id];
            expect(finished(index.filter(question, ids))).toEqual(
              finished(oracle.filter(question, ids)),
            );
            expect(finished(index.listObjects(question))).toEqual(
              finished(oracle.listObjects(question)),
            );
          }
        }),
        { numRuns: GRAPHS },
      );
    },
    GRAPHS_MS,
  );

  it('authz 3 lets a group of everyone hold every user and no agent', () => {
    const index = given('user:* member group:all', 'group:all viewer document:d');
    expect(finished(index.check(tuple('user:zoe viewer document:d')))).toEqual({
      allowed: true,
      reason: 'user:* member group:all > group:all viewer document:d',
    });
    expect(finished(index.check(tuple('agent:zoe viewer document:d')))).toEqual({ allowed: false });
  });

  it('authz 3 nests every group in another by one tuple', () => {
    const index = given(
      'user:a member group:x',
      'group:* member group:g',
      'group:g editor document:d',
    );
    expect(finished(index.check(tuple('user:a can_write document:d')))).toEqual({
      allowed: true,
      reason:
        'user:a member group:x > group:* member group:g > group:g editor document:d (editor implies can_write)',
    });
  });

  it('authz 4 follows groups and parents 10,000 deep', () => {
    const index = given('user:a member group:0', 'group:9999 viewer folder:0');
    for (let depth = 0; depth < 9_999; depth++) {
      index.write(tuple(`group:${depth} member group:${depth + 1}`));
      index.write(tuple(`folder:${depth} parent folder:${depth + 1}`));
    }
    const { allowed, reason } = finished(index.check(tuple('user:a can_read folder:9999')));
    expect(allowed).toBe(true);
    expect(reason?.split(' > ')).toHaveLength(17);
    expect(reason).toContain('group:6 member group:7 > (19984 more) > folder:9991 parent');
    expect(reason?.endsWith('folder:9998 parent folder:9999 (viewer implies can_read)')).toBe(true);
  });

  it('authz 4 says that a question is too large instead of denying it', () => {
    const index = newTupleIndex({ recordsMax: 1_000, listRecordsMax: 10_000 });
    for (let group = 0; group <= 1_000; group++) {
      index.write(tuple(`user:a member group:${group}`));
    }
    index.write(tuple('group:0 viewer document:d'));
    const asked = tuple('user:a viewer document:d');
    expect(() => finished(index.check(asked))).toThrow(EvaluationBudgetExceeded);
    expect(() => finished(index.filter(asked, ['d']))).toThrow(EvaluationBudgetExceeded);
    expect(finished(index.listObjects(asked))).toEqual(['d']);
  });

  it.each(wideWorlds)('authz 4, 13 pauses, and is not confused by others, in $name', (world) => {
    const index = given(...world.tuples);
    const asked = tuple('user:a viewer document:d');
    const other = tuple('user:b viewer document:e');
    index.write(other);
    const expected = finished(index.check(asked));
    expect(expected.allowed).toBe(world.allowed);
    const walks: readonly (readonly [Walk<unknown>, unknown])[] = [
      [index.check(asked, index.run(newScratch())), expected],
      [index.filter(asked, ['d'], index.run(newScratch())), [world.allowed]],
    ];
    for (const [walk, answer] of walks) {
      let pauses = 0;
      let step = walk.next();
      for (; step.done !== true; step = walk.next()) {
        pauses++;
        expect(finished(index.check(other)).allowed).toBe(true);
      }
      expect(pauses).toBeGreaterThanOrEqual(world.pausesMin);
      expect(step.value).toEqual(answer);
    }
  });

  it('authz 5 names the older of two equal paths, and the other once that was written again', () => {
    const paths = ['user:a viewer document:d', 'user:a editor document:d'] as const;
    const index = given(...paths);
    const asked = tuple('user:a viewer document:d');
    expect(finished(index.check(asked)).reason).toBe('user:a viewer document:d');
    index.delete(tuple(paths[0]));
    index.write(tuple(paths[0]));
    expect(finished(index.check(asked)).reason).toBe(
      'user:a editor document:d (editor implies viewer)',
    );
  });

  it.each([
    { held: ['user:a viewer document:d'], reason: 'held: viewer; needed: editor' },
    {
      held: ['user:a member group:g', 'group:g viewer folder:f', 'folder:f parent document:d'],
      reason: 'held: viewer via group:g on folder:f; needed: editor',
    },
    {
      held: ['user:a can_read document:d', 'user:a can_write document:d'],
      reason: 'held: can_write; needed: editor',
    },
    { held: ['user:* viewer document:d'], reason: 'held: viewer via user:*; needed: editor' },
    { held: ['user:a member document:d', 'user:b viewer document:d'], reason: undefined },
  ])('authz 5 names what was held when $held is not enough', ({ held, reason }) => {
    const answer = finished(given(...held).check(tuple('user:a editor document:d')));
    expect(answer).toEqual(reason === undefined ? { allowed: false } : { allowed: false, reason });
  });

  it('quotes what could pass for punctuation, and cuts what is long', () => {
    const index = newTupleIndex();
    const fields: Fields = {
      user_type: 'user',
      user_id: `a > b ${'é'.repeat(200)}`,
      relation: 'viewer',
      object_type: '*',
      object_id: 'x'.repeat(129),
    };
    index.write(fields);
    expect(finished(index.check(fields)).reason).toBe(
      `user:"a > b ${'é'.repeat(122)}…" viewer "*":${'x'.repeat(128)}…`,
    );
  });

  it('forgets nodes that no tuple names, so that fresh ids do not make it grow', () => {
    const index = given('user:keep viewer document:keep');
    for (let round = 0; round < 20_000; round++) {
      const fields = tuple(`user:${round} viewer document:${round}`);
      index.write(fields);
      expect(finished(index.check(fields)).allowed).toBe(true);
      index.delete(fields);
      expect(finished(index.check(fields))).toEqual({ allowed: false });
    }
    expect(index.size).toBe(1);
    expect(finished(index.check(tuple('user:keep viewer document:keep'))).allowed).toBe(true);
  });
});
