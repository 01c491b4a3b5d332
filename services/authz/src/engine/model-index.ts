/** Answers by a tenant's own model, as the index of tuples answers by the seven relations; without reasons. */
import { partsOf, type Types } from '../models/rules.ts';
import type { Fields } from '../tuples/relation.ts';
import { WILDCARD } from '../tuples/relation.ts';
import { Budget, LIST_RECORDS_MAX, RECORDS_MAX } from './closure.ts';
import { Goals, type Rules, rulesOf } from './model-goals.ts';
import { ModelWorld, type Subject } from './model-world.ts';
import { sortedByBytes } from './sorted-by-bytes.ts';
import type { Limits, TupleIndex } from './tuple-index.ts';

/** Ids between two pauses. */
const SLICE_IDS = 64;

export type ModelIndex = TupleIndex & { readonly rules: Rules };

/** The model's rules, where an index answers by a model. */
export const rulesIn = (index: TupleIndex): Rules | undefined => (index as ModelIndex).rules;

export function newModelIndex(
  types: Types,
  { recordsMax, listRecordsMax }: Limits = {
    recordsMax: RECORDS_MAX,
    listRecordsMax: LIST_RECORDS_MAX,
  },
): ModelIndex {
  const world = new ModelWorld();
  const rules = rulesOf(types);
  const newBudget = () => new Budget(recordsMax);
  const goalsOf = (user: Subject, budget: Budget) => new Goals({ world, rules, user }, budget);
  const check = (fields: Fields, budget: Budget): boolean =>
    goalsOf(userOf(fields), budget).allows(fields.object_type, fields.object_id, fields.relation);
  return {
    rules,
    get size() {
      return world.size;
    },
    write: (tuple) => world.write(tuple),
    delete: (tuple) => world.delete(tuple),
    budget: newBudget,
    check: (fields, budget = newBudget()) => ({ allowed: check(fields, budget) }),
    explain: (fields, budget = newBudget()) => ({ allowed: check(fields, budget) }),
    filter: (question, ids, budget = newBudget()) => {
      const goals = goalsOf(userOf(question), budget);
      return ids.map((id) => goals.allows(question.object_type, id, question.relation));
    },
    *listObjects(question) {
      const user = userOf(question);
      const goals = goalsOf(user, new Budget(listRecordsMax));
      const candidates = new Set(world.idsOf(question.object_type));
      // Who are members of a group are so by themselves, whether or not a tuple is about it.
      if (partsOf(user.type).type === question.object_type) candidates.add(user.id);
      return yield* sortedByBytes(
        yield* those(candidates, (id) => goals.allows(question.object_type, id, question.relation)),
      );
    },
    *listUsers({ user_type, object_type, object_id, relation }) {
      const budget = new Budget(listRecordsMax);
      const allows = (id: string, withoutWildcard: boolean): boolean =>
        goalsOf({ type: user_type, id }, budget).allows(
          object_type,
          object_id,
          relation,
          withoutWildcard,
        );
      const { type } = partsOf(user_type);
      const candidates = new Set(type === user_type ? [] : [object_id, ...world.idsOf(type)]);
      for (const subject of world.allSubjects()) {
        budget.spend();
        const isMeant = type === user_type ? !('relation' in subject) : true;
        if (isMeant && subject.type === type && subject.id !== WILDCARD) candidates.add(subject.id);
      }
      const ids = yield* those(candidates, (id) => allows(id, true));
      return { ids: yield* sortedByBytes(ids), wildcard: allows(WILDCARD, false) };
    },
  };
}

const userOf = ({ user_type, user_id }: Pick<Fields, 'user_type' | 'user_id'>): Subject => ({
  type: user_type,
  id: user_id,
});

function* those(
  candidates: Iterable<string>,
  isAllowed: (id: string) => boolean,
): Generator<void, string[]> {
  const ids: string[] = [];
  let count = 0;
  for (const id of candidates) {
    if (isAllowed(id)) ids.push(id);
    if (++count % SLICE_IDS === 0) yield;
  }
  return ids;
}
