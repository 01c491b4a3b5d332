import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newModelIndex } from '../engine/model-index.ts';
import { finished } from '../engine/tuple-index.ts';
import type { Fields } from '../relations/relation.ts';
import { faultsOfModel, type Types } from '../relations/rules.ts';
import { NotImportable } from './expression.ts';
import { readModel } from './import-model.ts';
import { typesOfOpenFga } from './openfga.ts';
import { typesOfZed } from './zed.ts';

const CASES = 64;
const OF = ['user', 'user:*', 'group#member'];

const FGA = `
model
  schema 1.1
type user
type group
  relations
    define member: [user, group#member]
type folder
  relations
    define viewer: [user]
type document
  relations
    define parent: [folder]
    define a: [user]
    define b: [user]
    define c: [user]
    define plain: [user, user:*, group#member] or a or viewer from parent
    define both: a and b
    define but: a but not b
    define nested: ([user] and a) or (b but not c)
    define deep: ((a or b) and c) but not (a and b and c)
    define twice: (a but not b) but not c
`;
const ZED = `
// groups nest
definition user {}
definition group { relation member: user | group#member }
definition folder { relation viewer: user }
/** Documents */
definition document {
  relation parent: folder
  relation a: user; relation b: user
  relation c: user
  relation direct: user | user:* | group#member
  permission plain = direct + a + parent->viewer
  permission both = a & b
  permission but = a - b
  permission nested = (direct & a) + (b - c)
  permission deep = ((a + b) & c) - (a & b & c)
  permission twice = a - b - c
  permission loose = a - b + c
  permission tight = a + b & c
  permission any = parent.any(viewer)
}
`;

type Has = { readonly a: boolean; readonly b: boolean; readonly c: boolean; readonly own: boolean };
/** The expected meaning of each relation. */
const MEANING: { readonly [relation: string]: (has: Has) => boolean } = {
  both: ({ a, b }) => a && b,
  but: ({ a, b }) => a && !b,
  nested: ({ a, b, c, own }) => (own && a) || (b && !c),
  deep: ({ a, b, c }) => (a || b) && c && !(a && b && c),
  twice: ({ a, b, c }) => a && !b && !c,
};
const LOOSE = {
  loose: ({ a, b, c }: Has) => a && !(b || c),
  tight: ({ a, b, c }: Has) => (a || b) && c,
};

function expectMeaning(
  types: Types,
  meaning: typeof MEANING,
  own: (relation: string) => string,
): void {
  expect(faultsOfModel(types)).toEqual([]);
  fc.assert(
    fc.property(
      fc.record({ a: fc.boolean(), b: fc.boolean(), c: fc.boolean(), own: fc.boolean() }),
      (has) => {
        for (const [relation, holds] of Object.entries(meaning)) {
          const index = newModelIndex(types);
          const fields = {
            user_type: 'user',
            user_id: 'ann',
            object_type: 'document',
            object_id: 'd',
          };
          const relations = [
            ...(['a', 'b', 'c'] as const).filter((each) => has[each]),
            ...(has.own ? [own(relation)] : []),
          ];
          for (const each of relations) index.write({ ...fields, relation: each } as Fields);
          const { allowed } = finished(index.check({ ...fields, relation } as Fields));
          expect({ relation, has, allowed }).toEqual({ relation, has, allowed: holds(has) });
        }
      },
    ),
    { numRuns: CASES },
  );
}

describe("a model in OpenFGA's language", () => {
  const types = typesOfOpenFga(FGA);

  it('is one of ours that says the same', () => {
    expect(types['document']?.relations?.['plain']).toEqual({
      direct: OF,
      union: ['a', { from: 'parent', relation: 'viewer' }],
    });
    expectMeaning(types, MEANING, (relation) => relation);
  });

  it.each([
    ['no model', 'this is none'],
    ['conditions', `${FGA}    define d: [user with c]\ncondition c(x: int) {\n  x < 5\n}\n`],
    ['too much', `${FGA}${' '.repeat(256 * 1024)}`],
    ['too deep', FGA.replace('a and b', `${'('.repeat(100)}a and b${') and a'.repeat(100)}`)],
  ])('is refused for %s, without a word of it', (_, text) => {
    const refused = () => typesOfOpenFga(text);
    expect(refused).toThrow(NotImportable);
    expect(refused).not.toThrow(/this is none|define/);
  });
});

describe("a schema in SpiceDB's language", () => {
  const types = typesOfZed(ZED);

  it('is a model of ours that says the same, a union being the tightest', () => {
    expect(types['document']?.relations?.['direct']).toEqual({ direct: OF });
    expect(types['document']?.relations?.['plain']).toEqual({
      union: ['direct', 'a', { from: 'parent', relation: 'viewer' }],
    });
    expect(types['document']?.relations?.['any']).toEqual({
      union: [{ from: 'parent', relation: 'viewer' }],
    });
    expectMeaning(types, { ...MEANING, ...LOOSE }, () => 'direct');
  });

  it.each([
    ['no schema', 'type user'],
    ['a caveat', 'caveat c(x int) { x < 5 }\ndefinition user {}'],
    ['a relation with a caveat', 'definition user {}\ndefinition d { relation r: user with c }'],
    ['expiration', 'use expiration\ndefinition user {}'],
    ['all of many', 'definition d { relation p: d\n permission x = p.all(p) }'],
    ['nobody', 'definition d { permission x = nil }'],
    ['a definition twice', 'definition d {}\ndefinition d {}'],
    ['a name twice', 'definition d { relation p: d\n permission p = p }'],
    ['an end too early', 'definition d { relation p: '],
    ['strange characters', 'definition d { relation p: "d" }'],
    ['too much', ' '.repeat(256 * 1024 + 1)],
    [
      'too deep',
      `definition d { relation p: d\n permission x = ${'('.repeat(100)}p${')'.repeat(100)} }`,
    ],
  ])('is refused for %s', (_, text) => {
    expect(() => typesOfZed(text)).toThrow(NotImportable);
  });

  it('F3 is read, or refused, whatever it is', () => {
    const pieces = [
      'definition ',
      'd ',
      '{',
      '}',
      'relation ',
      'permission ',
      ':',
      '=',
      '->',
      '+',
      '&',
      '-',
      '(',
      ')',
      '|',
      '#',
      '*',
      '\n',
      '//',
      '/*',
      'é',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
        try {
          typesOfZed(parts.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(NotImportable);
        }
      }),
    );
  });
});

describe('a model of another product', () => {
  const zed = (permission: string) =>
    `definition user {}\ndefinition d { relation p: user\n permission x = ${permission} }`;
  const fga = (relation: string) =>
    `model\n  schema 1.1\ntype user\ntype d\n  relations\n    define p: [user]\n    define x: ${relation}\n`;
  const nested = `${'('.repeat(100)}p${')'.repeat(100)}`;

  it.each([
    ['zed nests deeply', 'zed', zed(nested), 'Nested too deeply.'],
    ['openfga nests deeply', 'openfga', fga(nested), 'Nested too deeply.'],
    [
      'zed has a rule of many terms',
      'zed',
      zed(`${'p + '.repeat(5_000)}p`),
      'The model is too large.',
    ],
    [
      'openfga has a rule of many terms',
      'openfga',
      fga(`${'p or '.repeat(5_000)}p`),
      'The model is too large.',
    ],
  ] as const)(
    'C2 is refused within the bounds of a published one: %s',
    async (_, language, text, message) => {
      const refused = { refused: 'not_importable', message };
      expect(await readModel(text, language)).toEqual(refused);
    },
  );
});
