import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ModelTuple, naiveAnswers } from '../../test/naive-model.ts';
import { faultsOfModel, type Rule, type Term, type Types } from '../models/rules.ts';
import type { Fields } from '../tuples/relation.ts';
import { EvaluationBudgetExceeded } from './closure.ts';
import { newModelIndex } from './model-index.ts';
import { finished, type TupleIndex, type UsersQuestion } from './tuple-index.ts';

const MODELS = 300;
const DEEP = 10_000;
const IDS = ['a', 'b', '\u{10000}', '\ue000'];
const NAMES = ['r', 's', 't', 'up'];
const SUBJECTS = ['user', 'user:*', 'group', 'group#r', 'group#s', 'doc', 'doc#r', 'doc#t'];

const term: fc.Arbitrary<Term> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NAMES) },
  {
    weight: 1,
    arbitrary: fc.record({ from: fc.constant('up'), relation: fc.constantFrom(...NAMES) }),
  },
);
const terms = (maxLength: number) =>
  fc.uniqueArray(term, { maxLength, selector: (each) => JSON.stringify(each) });
const rule: fc.Arbitrary<Rule> = fc.record({
  direct: fc.uniqueArray(fc.constantFrom(...SUBJECTS), { maxLength: 4 }),
  union: terms(2),
  intersect: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: terms(2) },
  ),
  exclude: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: terms(1) }),
});
/** `up` leads to other objects; the rest is drawn. */
const own = fc.record({ r: rule, s: rule, t: rule, up: fc.constant({ direct: ['group', 'doc'] }) });
const anyModel: fc.Arbitrary<Types> = fc
  .record({ group: own, doc: own })
  .map(({ group, doc }) => ({ user: {}, group: { relations: group }, doc: { relations: doc } }))
  .filter((types) => faultsOfModel(types).length === 0);
const anyTuple: fc.Arbitrary<ModelTuple> = fc.record({
  user_type: fc.constantFrom(
    'user',
    'user',
    'group',
    'group#r',
    'group#s',
    'doc',
    'doc#r',
    'doc#t',
  ),
  user_id: fc.constantFrom(...IDS, '*'),
  relation: fc.constantFrom(...NAMES),
  object_type: fc.constantFrom('group', 'doc'),
  object_id: fc.constantFrom(...IDS),
});
const fieldsOf = (tuple: ModelTuple): Fields => tuple as Fields;

function indexOf(types: Types, ...tuples: readonly ModelTuple[]): TupleIndex {
  const index = newModelIndex(types);
  for (const each of tuples) index.write(fieldsOf(each));
  return index;
}
const tuple = (text: string): ModelTuple => {
  const [subject = '', relation = '', object = ''] = text.split(' ');
  const [user_type = '', user_id = ''] = subject.split(':');
  const [object_type = '', object_id = ''] = object.split(':');
  return { user_type, user_id, relation, object_type, object_id };
};
const allows = (index: TupleIndex, text: string): boolean =>
  finished(index.check(fieldsOf(tuple(text)))).allowed;
const byBytes = (ids: readonly string[]) =>
  ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

describe('the evaluator of models', () => {
  it('authz 23 answers on any model and any tuples as the naive loops do', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(
        anyModel,
        fc.array(fc.tuple(fc.boolean(), anyTuple), { maxLength: 25 }),
        (types, changes) => {
          const index = newModelIndex(types);
          const tuples = new Map<string, ModelTuple>();
          for (const [isDelete, each] of changes) {
            if (isDelete && tuples.size > 3) index.delete(fieldsOf(each));
            else index.write(fieldsOf(each));
            if (isDelete && tuples.size > 3) tuples.delete(JSON.stringify(each));
            else tuples.set(JSON.stringify(each), each);
          }
          expect(index.size).toBe(tuples.size);
          for (const [type, id] of [
            ['user', 'a'],
            ['user', '*'],
            ['group#r', 'b'],
            ['doc', 'a'],
            ['agent', 'a'],
          ] as const) {
            const naive = naiveAnswers(types, [...tuples.values()], { type, id });
            for (const relation of NAMES) {
              for (const object_type of ['group', 'doc']) {
                const question = { user_type: type, user_id: id, relation, object_type } as Fields;
                const expected = IDS.map((object_id) =>
                  naive({ type: object_type, id: object_id, relation }),
                );
                const checked = IDS.map(
                  (object_id) => finished(index.check({ ...question, object_id })).allowed,
                );
                expect({ question, checked }).toEqual({ question, checked: expected });
                expect(finished(index.filter(question, IDS))).toEqual(expected);
                const listed = IDS.filter((_, at) => expected[at]);
                expect(finished(index.listObjects(question))).toEqual(byBytes(listed));
              }
            }
          }
        },
      ),
      { numRuns: MODELS },
    );
  });

  it('authz 23 lists whom a check allows, and whom all of a type stand for', () => {
    const monotone = anyModel.filter((types) =>
      Object.values(types).every(({ relations = {} }) =>
        Object.values(relations).every(({ exclude = [] }) => exclude.length === 0),
      ),
    );
    fc.assert(
      fc.property(monotone, fc.array(anyTuple, { maxLength: 20 }), (types, tuples) => {
        const index = indexOf(types, ...tuples);
        for (const user_type of ['user', 'group#r']) {
          const question = {
            user_type,
            relation: 'r' as never,
            object_type: 'doc',
            object_id: 'a',
          } as UsersQuestion;
          const { ids, wildcard } = finished(index.listUsers(question));
          for (const user_id of [...IDS, 'nobody']) {
            const { allowed } = finished(index.check({ ...question, user_id }));
            expect({ user_id, allowed }).toEqual({
              user_id,
              allowed: ids.includes(user_id) || wildcard,
            });
          }
        }
      }),
      { numRuns: MODELS },
    );
  });

  it('takes a subject of a list only where the model names it', () => {
    const types: Types = {
      user: {},
      bot: {},
      group: { relations: { member: { direct: ['user'] } } },
      doc: { relations: { viewer: { direct: ['user', 'group#member'] } } },
    };
    const index = indexOf(
      types,
      ...[
        'bot:b viewer doc:d',
        'group:g viewer doc:d',
        'group#member:g viewer doc:d',
        'user:* viewer doc:d',
        'user:ann member group:g',
      ].map(tuple),
    );
    expect(allows(index, 'bot:b viewer doc:d')).toBe(false);
    expect(allows(index, 'group:g viewer doc:d')).toBe(false);
    expect(allows(index, 'user:bob viewer doc:d')).toBe(false);
    expect(allows(index, 'user:ann viewer doc:d')).toBe(true);
    expect(allows(index, 'user:ann unheard doc:d')).toBe(false);
  });

  it('excludes whoever is blocked, also from what all may', () => {
    const types: Types = {
      user: {},
      doc: {
        relations: {
          blocked: { direct: ['user'] },
          viewer: { direct: ['user', 'user:*'], exclude: ['blocked'] },
        },
      },
    };
    const index = indexOf(
      types,
      ...[
        'user:* viewer doc:d',
        'user:bob viewer doc:d',
        'user:ann viewer doc:d',
        'user:bob blocked doc:d',
      ].map(tuple),
    );
    expect(allows(index, 'user:bob viewer doc:d')).toBe(false);
    expect(allows(index, 'user:cid viewer doc:d')).toBe(true);
    const question = {
      user_type: 'user',
      relation: 'viewer',
      object_type: 'doc',
      object_id: 'd',
    } as UsersQuestion;
    expect(finished(index.listUsers(question))).toEqual({ ids: ['ann'], wildcard: true });
  });

  const deep: Types = {
    user: {},
    folder: {
      relations: {
        parent: { direct: ['folder'] },
        viewer: {
          direct: ['user', 'folder#viewer'],
          union: [{ from: 'parent', relation: 'viewer' }],
        },
      },
    },
  };

  it('authz 4 goes as deep as tuples do, and around their cycles', () => {
    const chain = Array.from({ length: DEEP }, (_, at) =>
      tuple(`folder:${at + 1} parent folder:${at}`),
    );
    const index = indexOf(
      deep,
      ...chain,
      tuple(`user:ann viewer folder:${DEEP}`),
      tuple(`folder:0 parent folder:${DEEP}`),
    );
    expect(allows(index, 'user:ann viewer folder:0')).toBe(true);
    expect(allows(index, 'user:bob viewer folder:0')).toBe(false);
  });

  it('authz 4 says that a question is too large instead of answering it wrongly', () => {
    const index = newModelIndex(deep, { recordsMax: 50, listRecordsMax: 50 });
    for (let at = 0; at < 100; at++)
      index.write(fieldsOf(tuple(`folder#viewer:${at} viewer folder:top`)));
    expect(() => allows(index, 'user:ann viewer folder:top')).toThrow(EvaluationBudgetExceeded);
  });
});
