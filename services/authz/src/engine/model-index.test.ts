import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyModel,
  anyTuple,
  fieldsOf,
  IDS,
  indexOf,
  MODELS,
  monotone,
  NAMES,
  tuple,
} from '../../test/any-model.ts';
import { type ModelTuple, naiveAnswers } from '../../test/naive-model.ts';
import type { Fields } from '../relations/relation.ts';
import type { Rule, Types } from '../relations/rules.ts';
import { EvaluationBudgetExceeded } from './budget.ts';
import { newModelIndex } from './model-index.ts';
import { finished, type Question, type TupleIndex, type UsersQuestion } from './tuple-index.ts';

const DEEP = 10_000;
/** Relations that are each a union of the one before, and objects that have them. */
const CHAINED = 450;
const OBJECTS = 300;
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

  it('C3 gives up on a question that needs more goals in memory than one may keep', () => {
    const limits = { recordsMax: 1_000_000, listRecordsMax: 1_000_000, liveGoalsMax: 500 };
    const index = newModelIndex(deep, limits);
    for (let at = 0; at < 1_000; at++)
      index.write(fieldsOf(tuple(`folder:${at + 1} parent folder:${at}`)));
    index.write(fieldsOf(tuple('user:ann viewer folder:900')));
    const run = index.run();
    const check = (text: string) => finished(index.check(fieldsOf(tuple(text)), run));
    expect(() => check('user:ann viewer folder:0')).toThrow(EvaluationBudgetExceeded);
    // A question that was too large releases its memory for the next question of the request.
    expect(check('user:ann viewer folder:800').allowed).toBe(true);
  });

  it('C3 keeps no more goals of a list than of one question', () => {
    const relations: Record<string, Rule> = { r0: { direct: ['user'] } };
    for (let at = 1; at < CHAINED; at++) relations[`r${at}`] = { union: [`r${at - 1}`] };
    const index = newModelIndex({ user: {}, doc: { relations } });
    for (let at = 0; at < OBJECTS; at++) index.write(fieldsOf(tuple(`user:ann r0 doc:${at}`)));
    const run = index.listRun();
    const question = { user_type: 'user', user_id: 'ann', object_type: 'doc' };
    const last = { ...question, relation: `r${CHAINED - 1}` as never } as Question;
    let liveMost = 0;
    let listed: readonly string[] | undefined;
    for (const walk = index.listObjects(last, run); listed === undefined; ) {
      const step = walk.next();
      if (step.done) listed = step.value;
      else liveMost = Math.max(liveMost, run.budget.live);
    }
    expect(listed.length).toBe(OBJECTS);
    expect(liveMost).toBeGreaterThan(0);
    // The goals kept for the next object, plus those that one object needs.
    expect(liveMost).toBeLessThan(20_000 + 2 * CHAINED + 2);
    expect(run.budget.live).toBe(0);
  });
});
