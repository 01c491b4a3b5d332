import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyTuple,
  fieldsOf,
  indexOf,
  MODELS,
  monotone,
  NAMES,
  tuple,
} from '../../test/any-model.ts';
import type { Types } from '../relations/rules.ts';
import { finished } from './tuple-index.ts';

describe('the reason of a model', () => {
  it('authz 23 names tuples that are enough for what it allows', () => {
    fc.assert(
      fc.property(monotone, fc.array(anyTuple, { maxLength: 20 }), (types, tuples) => {
        const index = indexOf(types, ...tuples);
        const stored = new Set(tuples.map((each) => JSON.stringify(each)));
        for (const user_type of ['user', 'group#r', 'doc']) {
          for (const relation of NAMES) {
            const asked = fieldsOf({
              user_type,
              user_id: 'a',
              relation,
              object_type: 'doc',
              object_id: 'a',
            });
            const { allowed, reason, path = [] } = finished(index.explain(asked));
            expect(finished(index.check(asked))).toEqual({ allowed, ...(reason && { reason }) });
            if (!allowed) expect([reason, path]).toEqual([undefined, []]);
            expect(path.every((each) => stored.has(JSON.stringify(each)))).toBe(true);
            const alone = indexOf(types, ...path);
            expect(finished(alone.check(asked)).allowed).toBe(allowed);
          }
        }
      }),
      { numRuns: MODELS },
    );
  });

  it('authz 23 words the reason of a model as that of the seven relations', () => {
    const types: Types = {
      user: {},
      group: { relations: { member: { direct: ['user', 'group#member'] } } },
      folder: { relations: { reader: { direct: ['group#member'] } } },
      doc: {
        relations: {
          parent: { direct: ['folder'] },
          owner: { direct: ['user'] },
          paid: { direct: ['user:*'] },
          reader: { union: ['owner', { from: 'parent', relation: 'reader' }] },
          printer: { intersect: ['reader', 'paid'] },
        },
      },
    };
    const index = indexOf(
      types,
      ...[
        'user:ann member group:eng',
        'group#member:eng member group:all',
        'group#member:all reader folder:f',
        'folder:f parent doc:d',
        'user:bob owner doc:d',
        'user:* paid doc:d',
      ].map(tuple),
    );
    const reason = (text: string) => finished(index.check(fieldsOf(tuple(text)))).reason;
    const path =
      'user:ann member group:eng > group:eng#member member group:all > ' +
      'group:all#member reader folder:f > folder:f parent doc:d';
    expect(reason('user:ann reader doc:d')).toBe(path);
    expect(reason('user:bob reader doc:d')).toBe('user:bob owner doc:d (owner implies reader)');
    expect(reason('user:ann printer doc:d')).toBe(`${path} AND user:* paid doc:d`);
    expect(reason('user:cid reader doc:d')).toBeUndefined();
    expect(reason('group#member:eng member group:eng')).toBeUndefined();
  });

  it('authz 23 names the tuple to the object of which a condition has to hold', () => {
    const types: Types = {
      user: {},
      folder: { relations: { viewer: { direct: ['user'] } } },
      doc: {
        relations: {
          parent: { direct: ['folder'] },
          viewer: { direct: ['user'], intersect: [{ from: 'parent', relation: 'viewer' }] },
        },
      },
    };
    const texts = ['user:ann viewer doc:d', 'user:ann viewer folder:f', 'folder:f parent doc:d'];
    const index = indexOf(types, ...texts.map(tuple));
    const asked = fieldsOf(tuple('user:ann viewer doc:d'));
    const { reason, path = [] } = finished(index.explain(asked));
    expect(path).toEqual(texts.map(tuple));
    expect(reason).toBe(
      'user:ann viewer doc:d AND user:ann viewer folder:f > folder:f parent doc:d',
    );
    expect(finished(indexOf(types, ...path).check(asked)).allowed).toBe(true);
  });
});
