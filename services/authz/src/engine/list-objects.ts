import { numberOf, satisfying } from '../tuples/relation.ts';
import { type Budget, Closure, closePrincipals } from './closure.ts';
import type { Question } from './filter.ts';
import { sortedByBytes } from './sorted-by-bytes.ts';
import { OUT_GRANT, OUT_MEMBER, OUT_PARENT, type TupleGraph } from './tuple-graph.ts';

/** Records between two pauses of a long walk. */
const SLICE = 2_048;

/**
 * Every id of the type for which a check would be allowed, once, ascending by UTF-8 bytes. Pauses at each
 * `yield`, so it uses closures of its own; the graph must not change until it is done.
 */
export function* listObjects(
  graph: TupleGraph,
  question: Question,
  budget: Budget,
): Generator<void, string[]> {
  const type = graph.nodes.typeNamed(question.object_type);
  if (type === undefined) return [];
  const found = new Closure();
  found.begin(graph.nodes.size);
  yield* reach(graph, question, found, budget);

  const ids: string[] = [];
  for (let slot = 0; slot < found.count; slot++) {
    const node = found.nodes[slot] as number;
    if (graph.nodes.isOfType(node, type)) ids.push(graph.nodes.idOf(node));
    if (slot % SLICE === SLICE - 1) yield;
  }
  return yield* sortedByBytes(ids);
}

function* reach(
  graph: TupleGraph,
  question: Question,
  found: Closure,
  budget: Budget,
): Generator<void, void> {
  if (question.relation === 'parent') {
    const subject = graph.nodes.find(question.user_type, question.user_id);
    if (subject === 0) return;
    return yield* addObjects(graph, subject, { list: OUT_PARENT, found, budget });
  }
  const principals = new Closure();
  closePrincipals(graph, question, principals, budget);
  const list = question.relation === 'member' ? OUT_MEMBER : OUT_GRANT;
  const accepted = satisfying[question.relation];
  for (let slot = 0; slot < principals.count; slot++) {
    const node = principals.nodes[slot] as number;
    yield* addObjects(graph, node, { list, found, budget, accepted });
    if (slot % SLICE === SLICE - 1) yield;
  }
  if (numberOf[question.relation] > numberOf.can_write) return;
  for (let slot = 0; slot < found.count; slot++) {
    yield* addObjects(graph, found.nodes[slot] as number, { list: OUT_PARENT, found, budget });
    if (slot % SLICE === SLICE - 1) yield;
  }
}

/** Adds the nodes that a node's list points to. */
function* addObjects(
  graph: TupleGraph,
  node: number,
  of: { list: number; found: Closure; budget: Budget; accepted?: number },
): Generator<void, void> {
  const newest = graph.newest(node, of.list);
  if (newest === 0) return;
  let record = newest;
  let steps = 0;
  do {
    record = graph.out.next[record] as number;
    of.budget.spend();
    if (++steps % SLICE === 0) yield;
    const bit = 1 << (graph.relations[record] as number);
    if (of.accepted !== undefined && (of.accepted & bit) === 0) continue;
    const object = graph.objects[record] as number;
    if (!of.found.has(object)) of.found.add(object, 0, 0, 0);
  } while (record !== newest);
}
