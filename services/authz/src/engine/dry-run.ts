/** Computes what a batch of writes and deletes would change: each check whose answer would differ. */

import type { Batch, Fields, Relation } from '../relations/relation.ts';
import type { Types } from '../relations/rules.ts';
import { relationsIn, UnknownRelation } from './model-index.ts';
import { EvaluationBudgetExceeded, type Run, type TupleIndex, type Walk } from './tuple-index.ts';

/** Checks that are evaluated before and after. Beyond this number, or beyond the budget, the result is incomplete. */
const EVALUATIONS_MAX = 1_000_000;
/** Objects between two pauses. */
const SLICE_OBJECTS = 512;

export type Node = { readonly type: string; readonly id: string };
export type Flip = Fields & { readonly from: boolean; readonly to: boolean };

export type DryRun = {
  /** The results, up to the number that the request asks for. */
  readonly flips: readonly Flip[];
  readonly total: number;
  /** False if there may be more changes than `total`. */
  readonly complete: boolean;
  readonly principalsAffected: number;
  readonly objectsAffected: number;
};

export type DryRunQuestion = {
  readonly batch: Batch;
  /** Types of a model to publish. Undefined for the current model. */
  readonly types?: Types;
  /** The relations to compare. Undefined for all that exist before or after. */
  readonly relations: readonly Relation[] | undefined;
  readonly limit: number;
};

type World = {
  readonly before: TupleIndex;
  /** An index of the same tuples in the same order, to which the batch is applied. */
  readonly after: TupleIndex;
  readonly principals: readonly Node[];
  readonly objects: readonly Node[];
};

/** Evaluates by principal, relation and object, in the given order. Pauses between slices. */
export function* dryRun(
  { before, after, principals, objects }: World,
  { batch, relations: asked, limit }: DryRunQuestion,
  run: Run = before.listRun(),
): Walk<DryRun> {
  const known = new Set([...relationsIn(before), ...relationsIn(after)]);
  for (const relation of asked ?? []) if (!known.has(relation)) throw new UnknownRelation();
  const relations = [...new Set(asked ?? known)];
  for (const fields of batch.writes) after.write(fields);
  for (const fields of batch.deletes) after.delete(fields);
  const flips: Flip[] = [];
  const affected = { principals: new Set<Node>(), objects: new Set<string>() };
  let total = 0;
  let evaluations = 0;
  try {
    for (const { principal, question, ids } of questionsOf(principals, relations, objects)) {
      evaluations += ids.length;
      if (evaluations > EVALUATIONS_MAX) return done(false);
      const was = yield* before.filter(question, ids, run);
      const is = yield* after.filter(question, ids, run);
      for (const [at, object_id] of ids.entries()) {
        add(principal, { ...question, object_id, from: was[at] === true, to: is[at] === true });
      }
      yield;
    }
    return done(true);
  } catch (error) {
    if (error instanceof EvaluationBudgetExceeded) return done(false);
    throw error;
  }

  function add(principal: Node, flip: Flip): void {
    if (flip.from === flip.to) return;
    total += 1;
    affected.principals.add(principal);
    affected.objects.add(JSON.stringify([flip.object_type, flip.object_id]));
    if (flips.length < limit) flips.push(flip);
  }

  function done(complete: boolean): DryRun {
    return {
      flips,
      total,
      complete,
      principalsAffected: affected.principals.size,
      objectsAffected: affected.objects.size,
    };
  }
}

/** Each principal and relation, with some objects of one type. */
function* questionsOf(
  principals: readonly Node[],
  relations: readonly Relation[],
  objects: readonly Node[],
) {
  const slices = slicesOf(objects);
  for (const principal of principals) {
    const user = { user_type: principal.type, user_id: principal.id };
    for (const relation of relations) {
      for (const { object_type, ids } of slices) {
        yield { principal, ids, question: { ...user, relation, object_type } };
      }
    }
  }
}

/** Slices of objects of one type, in the form that a filter needs. */
function slicesOf(objects: readonly Node[]) {
  const byType = Map.groupBy(objects, ({ type }) => type);
  return [...byType].flatMap(([object_type, nodes]) =>
    Array.from({ length: Math.ceil(nodes.length / SLICE_OBJECTS) }, (_, slice) => ({
      object_type,
      ids: nodes.slice(slice * SLICE_OBJECTS, (slice + 1) * SLICE_OBJECTS).map(({ id }) => id),
    })),
  );
}
