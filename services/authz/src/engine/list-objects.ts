import { numberOf, satisfying } from '../relations/relation.ts';
import { type Budget, PAUSE_RECORDS, type Walk } from './budget.ts';
import { type Closure, followMemberships, type Scratch } from './closure.ts';
import type { Question } from './filter.ts';
import { sortedByBytes } from './sorted-by-bytes.ts';
import type { TupleGraph } from './tuple-graph.ts';
import { OUT_GRANT, OUT_MEMBER, OUT_PARENT } from './tuple-lists.ts';

/**
 * Yields every id of the type for which a check would be allowed, once, ascending by UTF-8 bytes. It pauses at each
 * `yield`. The graph must not change until it is done.
 */
export function* listObjects(
  graph: TupleGraph,
  question: Question,
  of: { readonly scratch: Scratch; readonly budget: Budget },
): Walk<string[]> {
  const type = graph.nodes.typeNamed(question.object_type);
  if (type === 0) return [];
  const found = of.scratch.ancestors;
  found.begin(graph.nodes.size);
  yield* reach(graph, question, { ...of, found });

  const ids: string[] = [];
  for (let slot = 0; slot < found.count; slot++) {
    const node = found.nodes[slot] as number;
    if (graph.nodes.isOfType(node, type)) ids.push(graph.nodes.idOf(node));
    if (slot % PAUSE_RECORDS === PAUSE_RECORDS - 1) yield;
  }
  return yield* sortedByBytes(ids);
}

function* reach(
  graph: TupleGraph,
  question: Question,
  of: { readonly scratch: Scratch; readonly budget: Budget; readonly found: Closure },
): Walk<void> {
  const { found, budget } = of;
  if (question.relation === 'parent') {
    const subject = graph.nodes.find(question.user_type, question.user_id);
    if (subject === 0) return;
    return yield* addObjects(graph, subject, { list: OUT_PARENT, found, budget });
  }
  const { principals } = of.scratch;
  principals.start(graph, question);
  while (!followMemberships(graph, principals, budget)) yield;
  const list = question.relation === 'member' ? OUT_MEMBER : OUT_GRANT;
  const accepted = satisfying[question.relation];
  for (let slot = 0; slot < principals.count; slot++) {
    const node = principals.nodes[slot] as number;
    yield* addObjects(graph, node, { list, found, budget, accepted });
    if (slot % PAUSE_RECORDS === PAUSE_RECORDS - 1) yield;
  }
  if (numberOf[question.relation] > numberOf.can_write) return;
  for (let slot = 0; slot < found.count; slot++) {
    const node = found.nodes[slot] as number;
    if (!graph.isEmpty(node, OUT_PARENT)) {
      yield* addObjects(graph, node, { list: OUT_PARENT, found, budget });
    }
    if (slot % PAUSE_RECORDS === PAUSE_RECORDS - 1) yield;
  }
}

/** Adds the nodes that a node's list points to. */
function* addObjects(
  graph: TupleGraph,
  node: number,
  of: { list: number; found: Closure; budget: Budget; accepted?: number },
): Walk<void> {
  const newest = graph.newest(node, of.list);
  if (newest === 0) return;
  let record = newest;
  do {
    record = graph.records.nextOut(record);
    of.budget.spend();
    if (of.budget.pauseIsDue()) yield;
    const bit = 1 << graph.records.relationNumber(record);
    if (of.accepted !== undefined && (of.accepted & bit) === 0) continue;
    const object = graph.records.objectOf(record);
    if (!of.found.has(object)) of.found.add(object, 0, 0);
  } while (record !== newest);
}
