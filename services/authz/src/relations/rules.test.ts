import { describe, expect, it } from 'vitest';
import { faultsOfModel, RELATIONS_MAX, type Rule, TYPES_MAX, type Types } from './rules.ts';

const withRules = (relations: { readonly [relation: string]: Rule }): Types => ({
  user: {},
  group: { relations: { member: { direct: ['user', 'group#member'] } } },
  doc: { relations: { owner: { direct: ['user'] }, parent: { direct: ['group'] }, ...relations } },
});
const faultsOf = (rule: Rule) =>
  faultsOfModel(withRules({ viewer: rule })).map((fault) => `${fault.field} ${fault.rule}`);
const AT = 'types.doc.relations.viewer';

describe('a model', () => {
  it('may use everything that it has', () => {
    expect(
      faultsOf({
        direct: ['user', 'user:*', 'group#member'],
        union: ['owner', { from: 'parent', relation: 'member' }, 'viewer'],
        intersect: ['owner'],
        exclude: [{ from: 'parent', relation: 'member' }],
      }),
    ).toEqual([]);
  });

  it.each<[string, Rule, string]>([
    ['nothing at all', {}, `${AT} empty`],
    ['only who is excluded', { exclude: ['owner'] }, `${AT} empty`],
    ['a type that there is not', { direct: ['robot'] }, `${AT}.direct.0 unknown`],
    ['a relation that there is not', { direct: ['group#owner'] }, `${AT}.direct.0 unknown`],
    ['all members at once', { direct: ['group#member:*'] }, `${AT}.direct.0 unknown`],
    ['a condition', { direct: ['user with office_hours'] }, `${AT}.direct.0 unknown`],
    ['a name of every object', { direct: ['constructor'] }, `${AT}.direct.0 unknown`],
    ['an unknown term', { union: ['editor'] }, `${AT}.union.0 unknown`],
    ['an unknown way', { union: [{ from: 'folder', relation: 'owner' }] }, `${AT}.union.0 unknown`],
    ['an unknown end', { union: [{ from: 'parent', relation: 'owner' }] }, `${AT}.union.0 unknown`],
    [
      'a way that is no list of objects',
      { union: [{ from: 'viewer', relation: 'owner' }], direct: ['user:*'] },
      `${AT}.union.0 not_direct`,
    ],
    [
      'tuples of a relation that there is not',
      { direct: ['user'], of: 'editor' },
      `${AT}.of unknown`,
    ],
  ])('has no rule that names %s', (_, rule, fault) => {
    expect(faultsOf(rule)).toEqual([fault]);
  });

  it('has no relation that is allowed because it is not', () => {
    expect(faultsOf({ direct: ['user'], exclude: ['viewer'] })).toEqual([
      `${AT}.exclude reaches_itself`,
    ]);
    const circle = withRules({
      a: { direct: ['user'], union: ['b'] },
      b: { direct: ['user'], exclude: ['c'] },
      c: { union: ['a'] },
    });
    expect(faultsOfModel(circle)).toEqual([
      { field: 'types.doc.relations.b.exclude', rule: 'reaches_itself' },
    ]);
  });

  it('has names that can be told from what stands around them, and quotes no others', () => {
    for (const name of ['a b', 'a#b', 'a:b', 'a@b', '*', '', 'a\u0007', 'x'.repeat(255)]) {
      expect(faultsOfModel({ user: {}, [name]: {} })).toEqual([{ field: 'types', rule: 'name' }]);
      expect(faultsOfModel(withRules({ [name]: { direct: ['user'] } }))).toEqual([
        { field: 'types.doc.relations.?', rule: 'name' },
      ]);
    }
  });

  it('has as many types and relations as fit', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);
    const types = Object.fromEntries(many(TYPES_MAX + 1).map((name) => [name, {}]));
    expect(faultsOfModel(types)).toEqual([{ field: 'types', rule: 'max_items' }]);
    const rules = Object.fromEntries(
      many(RELATIONS_MAX + 1).map((name) => [name, { direct: ['user'] }]),
    );
    expect(faultsOfModel({ user: {}, doc: { relations: rules } })).toEqual([
      { field: 'types', rule: 'max_relations' },
    ]);
  });
});
