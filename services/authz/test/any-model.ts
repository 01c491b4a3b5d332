/** Generators of models and tuples for property tests, and short notations of them. */
import fc from 'fast-check';
import { newModelIndex } from '../src/engine/model-index.ts';
import type { TupleIndex } from '../src/engine/tuple-index.ts';
import type { Fields } from '../src/relations/relation.ts';
import { faultsOfModel, type Rule, type Term, type Types } from '../src/relations/rules.ts';
import type { ModelTuple } from './naive-model.ts';

export const MODELS = 300;
export const IDS = ['a', 'b', '\u{10000}', '\ue000'];
export const NAMES = ['r', 's', 't', 'up'];
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
/** `up` leads to other objects. The other rules are generated. */
const own = fc.record({ r: rule, s: rule, t: rule, up: fc.constant({ direct: ['group', 'doc'] }) });
export const anyModel: fc.Arbitrary<Types> = fc
  .record({ group: own, doc: own })
  .map(({ group, doc }) => ({ user: {}, group: { relations: group }, doc: { relations: doc } }))
  .filter((types) => faultsOfModel(types).length === 0);
export const monotone = anyModel.filter((types) =>
  Object.values(types).every(({ relations = {} }) =>
    Object.values(relations).every(({ exclude = [] }) => exclude.length === 0),
  ),
);
export const anyTuple: fc.Arbitrary<ModelTuple> = fc.record({
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
/** Usersets of whole types and single subjects, combined by conditions, which lists of users have to distinguish. */
const joined: fc.Arbitrary<Rule> = fc.record({
  direct: fc.subarray(['user', 'user:*', 'group#r'], { minLength: 1 }),
  intersect: terms(2),
  exclude: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: terms(1) }),
});
const joinedOwn = fc.record({
  r: joined,
  s: joined,
  t: joined,
  up: fc.constant({ direct: ['group', 'doc'] }),
});
export const joinedModel: fc.Arbitrary<Types> = fc
  .record({ group: joinedOwn, doc: joinedOwn })
  .map(({ group, doc }) => ({ user: {}, group: { relations: group }, doc: { relations: doc } }))
  .filter((types) => faultsOfModel(types).length === 0);
export const userTuple: fc.Arbitrary<ModelTuple> = fc.record({
  user_type: fc.constantFrom('user', 'user', 'user', 'group#r', 'doc'),
  user_id: fc.constantFrom('a', 'b', '*'),
  relation: fc.constantFrom(...NAMES),
  object_type: fc.constantFrom('group', 'doc'),
  object_id: fc.constantFrom('a', 'b'),
});
export const fieldsOf = (tuple: ModelTuple): Fields => tuple as Fields;

export function indexOf(types: Types, ...tuples: readonly ModelTuple[]): TupleIndex {
  const index = newModelIndex(types);
  for (const each of tuples) index.write(fieldsOf(each));
  return index;
}
export const tuple = (text: string): ModelTuple => {
  const [subject = '', relation = '', object = ''] = text.split(' ');
  const [user_type = '', user_id = ''] = subject.split(':');
  const [object_type = '', object_id = ''] = object.split(':');
  return { user_type, user_id, relation, object_type, object_id };
};
