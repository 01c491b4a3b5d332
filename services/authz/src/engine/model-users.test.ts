/** Lists of users by a tenant's own model agree with single checks. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexOf, joinedModel, MODELS, tuple, userTuple } from '../../test/any-model.ts';
import type { Fields } from '../relations/relation.ts';
import type { Types } from '../relations/rules.ts';
import { finished, type UsersQuestion } from './tuple-index.ts';

const hasExclusion = (types: Types): boolean =>
  Object.values(types).some(({ relations = {} }) =>
    Object.values(relations).some(({ exclude = [] }) => exclude.length > 0),
  );

describe('the users of a model', () => {
  it('authz 23 are those whom a check allows through a condition that all of a type meet', () => {
    const types: Types = {
      user: {},
      doc: {
        relations: {
          live: { direct: ['user:*'] },
          viewer: { direct: ['user'], intersect: ['live'] },
          all: { direct: ['user:*'], exclude: ['barred'] },
          barred: { direct: ['user:*'], exclude: ['exempt'] },
          exempt: { direct: ['user'] },
        },
      },
    };
    const index = indexOf(
      types,
      ...[
        'user:ann viewer doc:d',
        'user:* live doc:d',
        'user:* all doc:d',
        'user:* barred doc:d',
        'user:bob exempt doc:d',
      ].map(tuple),
    );
    const question = { user_type: 'user', object_type: 'doc', object_id: 'd' };
    const usersOf = (relation: string) =>
      finished(index.listUsers({ ...question, relation } as UsersQuestion));
    expect(usersOf('viewer')).toEqual({ ids: ['ann'], wildcard: false });
    expect(usersOf('all')).toEqual({ ids: ['bob'], wildcard: false });
  });

  it('authz 23 leave out nobody whom a check allows, and name nobody whom it denies', () => {
    fc.assert(
      fc.property(joinedModel, fc.array(userTuple, { maxLength: 12 }), (types, tuples) => {
        const index = indexOf(types, ...tuples);
        for (const relation of ['r', 's']) {
          const question = { user_type: 'user', relation, object_type: 'doc', object_id: 'a' };
          const { ids, wildcard } = finished(index.listUsers(question as UsersQuestion));
          for (const user_id of ['a', 'b', 'nobody']) {
            const asked = { ...question, user_id } as Fields;
            const { allowed } = finished(index.check(asked));
            const isListed = ids.includes(user_id);
            if (!allowed) expect({ asked, isListed }).toEqual({ asked, isListed: false });
            if (allowed)
              expect({ asked, isShown: isListed || wildcard }).toMatchObject({ isShown: true });
            // If nothing is excluded, the wildcard represents everybody.
            if (wildcard && !hasExclusion(types))
              expect({ asked, allowed }).toMatchObject({ allowed: true });
          }
        }
      }),
      { numRuns: 2 * MODELS },
    );
  });
});
