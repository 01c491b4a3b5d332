/** Answers by a tenant's own model, with the same interface as the index for the seven built-in relations. */

import type { Fields } from '../relations/relation.ts';
import { RELATIONS, type Relation, WILDCARD } from '../relations/relation.ts';
import { partsOf, type Types } from '../relations/rules.ts';
import { Budget, LIST_RECORDS_MAX, RECORDS_MAX, type Walk } from './budget.ts';
import { newScratch, type Scratch } from './closure.ts';
import { type Rules, rulesOf } from './goal-parts.ts';
import { Goals } from './model-goals.ts';
import { reasonOf } from './model-reason.ts';
import { ModelWorld, type Subject } from './model-world.ts';
import { sortedByBytes } from './sorted-by-bytes.ts';
import {
  type Explained,
  type Limits,
  type ListedUsers,
  newTupleIndex,
  type Run,
  type TupleIndex,
  type UsersQuestion,
} from './tuple-index.ts';

/** Goals are kept per question. This empty value is for callers that request a run. */
const NO_SCRATCH = newScratch();

/** Ids between two pauses. */
const SLICE_IDS = 64;

export type ModelIndex = TupleIndex & { readonly rules: Rules };

/** An index for the tenant's own model, if it has one. */
export const indexFor = (types: Types | undefined): TupleIndex =>
  types === undefined ? newTupleIndex() : newModelIndex(types);

/** The question names an unknown relation: neither one of the seven nor one of the model. */
export class UnknownRelation extends Error {
  override readonly name = 'UnknownRelation';
  /** The index of the question; 0 if there is only one. */
  readonly at: number;

  constructor(at = 0) {
    super();
    this.at = at;
  }
}

/** All relations that a question may name. */
export const relationsIn = (index: TupleIndex): ReadonlySet<Relation> => {
  const { rules } = index as Partial<ModelIndex>;
  return rules === undefined ? BUILT_IN : (rules.relations as ReadonlySet<Relation>);
};
const BUILT_IN: ReadonlySet<Relation> = new Set(RELATIONS);

export function expectRelation(index: TupleIndex, relation: Relation, at = 0): void {
  if (!relationsIn(index).has(relation)) throw new UnknownRelation(at);
}

export function newModelIndex(
  types: Types,
  { recordsMax, listRecordsMax, liveGoalsMax }: Limits = {
    recordsMax: RECORDS_MAX,
    listRecordsMax: LIST_RECORDS_MAX,
  },
): ModelIndex {
  const world = new ModelWorld();
  const rules = rulesOf(types);
  const runOf =
    (records: number) =>
    (scratch: Scratch = NO_SCRATCH): Run => ({
      budget: new Budget(records, liveGoalsMax),
      scratch,
    });
  const run = runOf(recordsMax);
  const listRun = runOf(listRecordsMax);
  const withGoals = goalsOf(world, rules);
  const allows = (fields: Fields, { budget }: Run = run()): Walk<boolean> => {
    const { object_type, object_id, relation } = fields;
    const asker = { user: userOf(fields), budget };
    return withGoals(asker, (goals) => goals.allows(object_type, object_id, relation));
  };
  function explained(fields: Fields, budget: Budget, isWhole: boolean): Walk<Explained> {
    const { object_type: type, object_id: id, relation } = fields;
    const asker = { user: userOf(fields), budget, explains: true };
    return withGoals(asker, function* (goals): Walk<Explained> {
      const allowed = yield* goals.allows(type, id, relation);
      if (!allowed) return { allowed };
      const goal = { type, id, relation, withoutWildcard: false };
      const { reason, path } = yield* reasonOf(goals, goal, { budget, isWhole });
      return { allowed, ...(reason === undefined ? {} : { reason }), path };
    });
  }
  return {
    rules,
    get size() {
      return world.size;
    },
    isWorn: false,
    write: (tuple) => world.write(tuple),
    delete: (tuple) => world.delete(tuple),
    hasNoFile: true,
    save: () => {
      throw new Error('an index of a model has no file');
    },
    run,
    listRun,
    allows,
    *check(fields, { budget } = run()) {
      const { allowed, reason } = yield* explained(fields, budget, false);
      return reason === undefined ? { allowed } : { allowed, reason };
    },
    explain: (fields, { budget } = run()) => explained(fields, budget, true),
    filter({ object_type, relation, ...user }, ids, { budget } = run()) {
      return withGoals({ user: userOf(user), budget }, function* (goals): Walk<boolean[]> {
        const answers: boolean[] = [];
        for (const [at, id] of ids.entries()) {
          answers.push(yield* goals.allows(object_type, id, relation));
          if (at % SLICE_IDS === SLICE_IDS - 1) yield;
        }
        return answers;
      });
    },
    *listObjects({ object_type, relation, ...asked }, { budget } = listRun()) {
      const user = userOf(asked);
      const candidates = new Set(world.idsOf(object_type));
      // A userset of a group is a member by definition, even if no tuple names it.
      if (partsOf(user.type).type === object_type) candidates.add(user.id);
      const found = withGoals({ user, budget }, (goals) =>
        those(candidates, (id) => goals.allows(object_type, id, relation)),
      );
      return yield* sortedByBytes(yield* found);
    },
    listUsers: (question, { budget } = listRun()) =>
      listUsers({ world, withGoals, budget }, question),
  };
}

type Asker = { readonly user: Subject; readonly budget: Budget; readonly explains?: boolean };
type WithGoals = <T>(asker: Asker, answer: (goals: Goals) => Walk<T>) => Walk<T>;

/** Runs a walk over a principal's answers and releases their memory afterwards, even if the question was too large. */
const goalsOf = (world: ModelWorld, rules: Rules): WithGoals =>
  function* withGoals({ user, budget, explains }, answer) {
    const goals = new Goals({ world, rules, user }, budget, explains);
    try {
      return yield* answer(goals);
    } finally {
      goals.forget();
    }
  };

function* listUsers(
  {
    world,
    withGoals,
    budget,
  }: { readonly world: ModelWorld; readonly withGoals: WithGoals; readonly budget: Budget },
  { user_type, object_type, object_id, relation }: UsersQuestion,
): Walk<ListedUsers> {
  const isAllowed = (id: string, withoutWildcard: boolean): Walk<boolean> =>
    withGoals({ user: { type: user_type, id }, budget }, (goals) =>
      goals.allows(object_type, object_id, relation, withoutWildcard),
    );
  const { type } = partsOf(user_type);
  const candidates = new Set(type === user_type ? [] : [object_id, ...world.idsOf(type)]);
  for (const subject of world.allSubjects()) {
    budget.spend();
    if (budget.pauseIsDue()) yield;
    const isMeant = type === user_type ? !('relation' in subject) : true;
    if (isMeant && subject.type === type && subject.id !== WILDCARD) candidates.add(subject.id);
  }
  const wildcard = yield* isAllowed(WILDCARD, false);
  // If the wildcard does not allow any user, every allowed user has to be listed.
  const ids = yield* those(candidates, (id) => isAllowed(id, wildcard));
  return { ids: yield* sortedByBytes(ids), wildcard };
}

const userOf = ({ user_type, user_id }: Pick<Fields, 'user_type' | 'user_id'>): Subject => ({
  type: user_type,
  id: user_id,
});

function* those(
  candidates: Iterable<string>,
  isAllowed: (id: string) => Walk<boolean>,
): Walk<string[]> {
  const ids: string[] = [];
  let count = 0;
  for (const id of candidates) {
    if (yield* isAllowed(id)) ids.push(id);
    if (++count % SLICE_IDS === 0) yield;
  }
  return ids;
}
