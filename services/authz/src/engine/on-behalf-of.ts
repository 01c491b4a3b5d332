/**
 * Questions of a principal who acts for another: allowed is only what both are allowed, never what one of
 * them is. In answers the one who acts comes first.
 */
import type { Fields } from '../tuples/relation.ts';
import { name } from './reason.ts';
import {
  type Budget,
  type Checked,
  EvaluationBudgetExceeded,
  type Explained,
  type Question,
  type TupleIndex,
} from './tuple-index.ts';

export type Principal = Pick<Fields, 'user_type' | 'user_id'>;
export type OnBehalfOf = { readonly on_behalf_of?: Principal };

export type CheckRequest = Fields & OnBehalfOf;
export type ObjectsRequest = Question & OnBehalfOf;

/** The question as each of the principals would ask it. */
export function eachOf<Q extends Principal>({ on_behalf_of, ...own }: Q & OnBehalfOf) {
  return on_behalf_of === undefined ? [own] : [own, { ...own, ...on_behalf_of }];
}

export function checkFor(index: TupleIndex, asked: CheckRequest, budget: Budget): Checked {
  if (asked.on_behalf_of === undefined) return index.check(asked, budget);
  const { allowed, reason } = together(eachOf(asked), (fields) => index.check(fields, budget));
  return reason === undefined ? { allowed } : { allowed, reason };
}

/** Within one budget; those that none of it was left for are undefined. */
export function checkEach(
  index: TupleIndex,
  asked: readonly CheckRequest[],
): readonly (Checked | undefined)[] {
  const budget = index.budget();
  return asked.map((one) => {
    try {
      return checkFor(index, one, budget);
    } catch (error) {
      if (error instanceof EvaluationBudgetExceeded) return undefined;
      throw error;
    }
  });
}

export function explainFor(index: TupleIndex, asked: CheckRequest): Explained {
  const budget = index.budget();
  return together(eachOf(asked), (fields) => index.explain(fields, budget));
}

function together(asked: readonly Fields[], answer: (fields: Fields) => Explained): Explained {
  const answers: Explained[] = [];
  for (const fields of asked) {
    const found = answer(fields);
    if (!found.allowed) return asked.length === 1 ? found : deniedTo(fields, found);
    answers.push(found);
  }
  return {
    allowed: true,
    reason: answers.map(({ reason }) => reason).join(' AND '),
    path: answers.flatMap(({ path }) => path ?? []),
  };
}

/** Says which of the two it is that lacks the relation. */
const deniedTo = ({ user_type, user_id }: Principal, denied: Explained): Explained =>
  denied.reason === undefined
    ? denied
    : { ...denied, reason: `${name(user_type, user_id)}: ${denied.reason}` };

export function filterFor(
  index: TupleIndex,
  asked: ObjectsRequest,
  objectIds: readonly string[],
): readonly boolean[] {
  const budget = index.budget();
  return eachOf(asked)
    .map((question) => index.filter(question, objectIds, budget))
    .reduce((own, other) => own.map((allowed, at) => allowed && other[at] === true));
}

export function* listObjectsFor(
  index: TupleIndex,
  asked: ObjectsRequest,
): Generator<void, readonly string[]> {
  let common: readonly string[] | undefined;
  for (const question of eachOf(asked)) {
    const ids = yield* index.listObjects(question);
    const before: ReadonlySet<string> | undefined = common && new Set(common);
    common = before === undefined ? ids : ids.filter((id) => before.has(id));
  }
  return common ?? [];
}
