import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { naiveIndex } from '../../test/naive-index.ts';
import type { Fields, Relation } from '../relations/relation.ts';
import { finished, newTupleIndex } from './tuple-index.ts';

const STORIES = 1_000;
const STORIES_MS = 60_000;

const fieldsOf = (subject: string, relation: Relation, object: string): Fields => {
  const [user_type = '', user_id = ''] = subject.split(':');
  const [object_type = '', object_id = ''] = object.split(':');
  return { user_type, user_id, relation, object_type, object_id };
};

const groups = ['group:1', 'group:2', 'group:3', 'group:*'];
const folders = ['folder:1', 'folder:2', 'folder:3'];
const principals = ['user:1', 'user:2', 'user:*', ...groups];
const anyOf = (
  subjects: readonly string[],
  relations: readonly Relation[],
  objects: readonly string[],
): fc.Arbitrary<Fields> =>
  fc
    .tuple(fc.constantFrom(...subjects), fc.constantFrom(...relations), fc.constantFrom(...objects))
    .map((parts) => fieldsOf(...parts));

/** Few nodes, most of which are reached from others, so that changes affect lists that were copied for a question. */
const anyTuple = fc.oneof(
  anyOf(principals, ['member'], groups.slice(0, 3)),
  anyOf(folders, ['parent'], [...folders, 'document:1']),
  anyOf(principals, ['viewer', 'editor', 'can_write'], [...folders, 'document:1']),
);
const anyQuestion = anyOf(
  ['user:1', 'user:2', 'user:unknown', 'group:1'],
  ['viewer', 'editor', 'can_read', 'member'],
  ['document:1', 'folder:1', 'group:3'],
);
const anyStep = fc.record({
  change: anyTuple,
  isWrite: fc.integer({ max: 2 }).map((one) => one !== 0),
  questions: fc.array(anyQuestion, { minLength: 1, maxLength: 3 }),
});

describe('copies of inner lists', () => {
  it(
    'never show what was true before a change',
    () => {
      const anyStory = fc.array(anyStep, { minLength: 4, maxLength: 24 });
      fc.assert(
        fc.property(anyStory, (story) => {
          const index = newTupleIndex();
          const oracle = naiveIndex();
          for (const { change, isWrite, questions } of story) {
            for (const engine of [index, oracle]) {
              if (isWrite) engine.write(change);
              else engine.delete(change);
            }
            for (const asked of questions) {
              const answer = { asked, ...finished(index.explain(asked)) };
              expect(answer).toEqual({ asked, ...finished(oracle.explain(asked)) });
              const { object_id, ...question } = asked;
              const ids = [object_id, '2', '3'];
              expect(finished(index.filter(question, ids))).toEqual(
                finished(oracle.filter(question, ids)),
              );
            }
          }
        }),
        { numRuns: STORIES },
      );
    },
    STORIES_MS,
  );

  it.each([
    {
      what: 'grants on a folder',
      steps: (at: number) => [fieldsOf(`user:${at}`, 'viewer', 'folder:inner')],
      asked: (at: number) => fieldsOf(`user:${at}`, 'viewer', 'document:1'),
    },
    {
      what: 'parents of a folder',
      steps: (at: number) => [
        fieldsOf(`folder:${at}`, 'parent', 'folder:inner'),
        fieldsOf(`user:${at}`, 'viewer', `folder:${at}`),
      ],
      asked: (at: number) => fieldsOf(`user:${at}`, 'viewer', 'document:1'),
    },
    {
      what: 'groups of a group',
      steps: (at: number) => [
        fieldsOf('group:inner', 'member', `group:${at}`),
        fieldsOf(`group:${at}`, 'viewer', `document:${at}`),
      ],
      asked: (at: number) => fieldsOf('user:of-inner', 'viewer', `document:${at}`),
    },
  ])('stay right while $what become too many to be copied, and few again', ({ steps, asked }) => {
    const index = newTupleIndex();
    index.write(fieldsOf('folder:inner', 'parent', 'document:1'));
    index.write(fieldsOf('user:of-inner', 'member', 'group:inner'));
    const numbers = Array.from({ length: 40 }, (_, at) => at + 100);
    const allowed = () => numbers.filter((at) => finished(index.allows(asked(at))));
    for (const [at, number] of numbers.entries()) {
      for (const step of steps(number)) index.write(step);
      expect(allowed()).toEqual(numbers.slice(0, at + 1));
    }
    for (const [at, number] of numbers.entries()) {
      for (const step of steps(number)) index.delete(step);
      expect(allowed()).toEqual(numbers.slice(at + 1));
    }
  });

  it('stay right where there are more inner nodes than room for copies', () => {
    const index = newTupleIndex();
    const folders = Array.from({ length: 600 }, (_, at) => at);
    for (const at of folders) {
      index.write(fieldsOf(`folder:${at}`, 'parent', `document:${at}`));
      index.write(fieldsOf(`user:${at}`, 'viewer', `folder:${at}`));
    }
    for (let round = 0; round < 3; round++) {
      for (const at of folders) {
        const [user, document] = [`user:${at}`, `document:${at}`];
        expect(finished(index.allows(fieldsOf(user, 'viewer', document)))).toBe(true);
        expect(finished(index.allows(fieldsOf(user, 'viewer', `document:${at + 1}`)))).toBe(false);
      }
    }
  });
});
