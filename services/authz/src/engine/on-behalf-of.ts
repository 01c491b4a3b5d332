/**
 * Questions of a principal who acts for another one: only what both are allowed is allowed. In results the acting
 * principal comes first.
 */
import type { Fields } from '../relations/relation.ts';
import { expectRelation } from './model-index.ts';
import { shownName } from './shown-names.ts';
import {
  type Checked,
  EvaluationBudgetExceeded,
  type Explained,
  type ListedUsers,
  type Question,
  type Run,
  type TupleIndex,
  type UsersQuestion,
  type Walk,
} from './tuple-index.ts';

export type Principal = Pick<Fields, 'user_type' | 'user_id'>;
export type OnBehalfOf = { readonly on_behalf_of?: Principal };

export type CheckRequest = Fields & OnBehalfOf;
export type ObjectsRequest = Question & OnBehalfOf;
export type FilterRequest = ObjectsRequest & { readonly object_ids: readonly string[] };

/** The question for each of the two principals. */
export function eachOf<Q extends Principal>({ on_behalf_of, ...own }: Q & OnBehalfOf) {
  return on_behalf_of === undefined ? [own] : [own, { ...own, ...on_behalf_of }];
}

export function checkFor(index: TupleIndex, asked: CheckRequest, run: Run): Walk<Checked> {
  expectRelation(index, asked.relation);
  return asked.on_behalf_of === undefined
    ? index.check(asked, run)
    : checkBoth(eachOf(asked), (fields) => index.check(fields, run));
}

function* checkBoth(
  asked: readonly Fields[],
  answer: (fields: Fields) => Walk<Checked>,
): Walk<Checked> {
  const { allowed, reason } = yield* together(asked, answer);
  return reason === undefined ? { allowed } : { allowed, reason };
}

/** Checks within one budget. Results that the budget did not suffice for are undefined. */
export function* checkEach(
  index: TupleIndex,
  asked: readonly CheckRequest[],
  run: Run,
): Walk<readonly (Checked | undefined)[]> {
  for (const [at, { relation }] of asked.entries()) expectRelation(index, relation, at);
  const answers: (Checked | undefined)[] = [];
  for (const one of asked) {
    try {
      answers.push(yield* checkFor(index, one, run));
    } catch (error) {
      if (!(error instanceof EvaluationBudgetExceeded)) throw error;
      answers.push(undefined);
    }
  }
  return answers;
}

export function explainFor(index: TupleIndex, asked: CheckRequest, run: Run): Walk<Explained> {
  expectRelation(index, asked.relation);
  return together(eachOf(asked), (fields) => index.explain(fields, run));
}

function* together(
  asked: readonly Fields[],
  answer: (fields: Fields) => Walk<Explained>,
): Walk<Explained> {
  const answers: Explained[] = [];
  for (const fields of asked) {
    const found = yield* answer(fields);
    if (!found.allowed) return asked.length === 1 ? found : deniedTo(fields, found);
    answers.push(found);
  }
  return {
    allowed: true,
    reason: answers.map(({ reason }) => reason).join(' AND '),
    path: answers.flatMap(({ path }) => path ?? []),
  };
}

/** States which of the two lacks the relation. */
const deniedTo = ({ user_type, user_id }: Principal, denied: Explained): Explained =>
  denied.reason === undefined
    ? denied
    : { ...denied, reason: `${shownName(user_type, user_id)}: ${denied.reason}` };

export function* filterFor(
  index: TupleIndex,
  { object_ids, ...asked }: FilterRequest,
  run: Run,
): Walk<readonly boolean[]> {
  expectRelation(index, asked.relation);
  let common: readonly boolean[] | undefined;
  for (const question of eachOf(asked)) {
    const allowed = yield* index.filter(question, object_ids, run);
    const before: readonly boolean[] | undefined = common;
    common = before === undefined ? allowed : allowed.map((own, at) => own && before[at] === true);
  }
  return common ?? [];
}

export function* listObjectsFor(
  index: TupleIndex,
  asked: ObjectsRequest,
  run: Run = index.listRun(),
): Walk<readonly string[]> {
  expectRelation(index, asked.relation);
  let common: readonly string[] | undefined;
  for (const question of eachOf(asked)) {
    const ids = yield* index.listObjects(question, run);
    const before: ReadonlySet<string> | undefined = common && new Set(common);
    common = before === undefined ? ids : ids.filter((id) => before.has(id));
  }
  return common ?? [];
}

export function* listUsersFor(
  index: TupleIndex,
  asked: UsersQuestion,
  run: Run = index.listRun(),
): Walk<ListedUsers> {
  expectRelation(index, asked.relation);
  return yield* index.listUsers(asked, run);
}
