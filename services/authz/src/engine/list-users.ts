import { type Fields, satisfying, WILDCARD } from '../tuples/relation.ts';
import { type Budget, Closure } from './closure.ts';
import { sortedByBytes } from './sorted-by-bytes.ts';
import { IN_GRANT, IN_MEMBER, IN_PARENT, type TupleGraph } from './tuple-graph.ts';

/** A check without its principal's id. */
export type UsersQuestion = Omit<Fields, 'user_id'>;

export type ListedUsers = {
  /** Ids that some tuple names and that are allowed by a path without the wildcard of their own type. */
  readonly ids: readonly string[];
  /** Every id of the type is allowed. */
  readonly wildcard: boolean;
};

/** Records between two pauses of a long walk. */
const SLICE = 2_048;

type Walk = {
  readonly graph: TupleGraph;
  readonly question: UsersQuestion;
  readonly budget: Budget;
  /** Principals that are allowed, in the order in which the walk met them. */
  readonly allowed: Closure;
};

/**
 * Every principal of the type for which a check would be allowed: from the object back to whoever holds a
 * grant, and from groups to their members.
 */
export function* listUsers(
  graph: TupleGraph,
  question: UsersQuestion,
  budget: Budget,
): Generator<void, ListedUsers> {
  const allowed = new Closure();
  allowed.begin(graph.nodes.size);
  const walk: Walk = { graph, question, budget, allowed };
  const object = graph.nodes.find(question.object_type, question.object_id);
  if (object !== 0) yield* addHolders(walk, object);
  // A parent is exactly what was stored: no groups, no wildcards.
  if (question.relation !== 'parent') yield* addMembers(walk);

  const type = graph.nodes.typeNamed(question.user_type);
  const wild = graph.nodes.wildcardOf(question.user_type);
  const ids: string[] = [];
  for (let slot = 0; slot < allowed.count; slot++) {
    const node = allowed.nodes[slot] as number;
    if (type !== undefined && graph.nodes.isOfType(node, type) && node !== wild) {
      ids.push(graph.nodes.idOf(node));
    }
    if (slot % SLICE === SLICE - 1) yield;
  }
  return { ids: yield* sortedByBytes(ids), wildcard: wild !== 0 && allowed.has(wild) };
}

/** The subjects of the tuples that grant the relation on the object itself or, where it flows, above it. */
function* addHolders(walk: Walk, object: number): Generator<void, void> {
  const { graph, question, budget } = walk;
  const { relation } = question;
  if (relation === 'parent') return yield* addSubjects(walk, object, { list: IN_PARENT });
  if (relation === 'member') return yield* addSubjects(walk, object, { list: IN_MEMBER });
  const accepted = satisfying[relation];
  const ancestors = new Closure();
  ancestors.begin(graph.nodes.size);
  ancestors.add(object, 0, 0, 0);
  for (let slot = 0; slot < ancestors.count; slot++) {
    const node = ancestors.nodes[slot] as number;
    yield* addSubjects(walk, node, { list: IN_GRANT, accepted });
    yield* addSubjects({ ...walk, allowed: ancestors }, node, { list: IN_PARENT });
    budget.spend();
  }
}

/** Whoever is a member of an allowed group is allowed, and so is every id of an allowed wildcard's type. */
function* addMembers(walk: Walk): Generator<void, void> {
  const { graph, question, allowed } = walk;
  for (let slot = 0; slot < allowed.count; slot++) {
    const node = allowed.nodes[slot] as number;
    yield* addSubjects(walk, node, { list: IN_MEMBER });
    // Those of the asked type are told by `wildcard`.
    if (graph.nodes.idOf(node) === WILDCARD && graph.nodes.typeOf(node) !== question.user_type) {
      yield* addAllOfType(walk, graph.nodes.typeOf(node));
    }
  }
}

function* addAllOfType({ graph, budget, allowed }: Walk, name: string): Generator<void, void> {
  let steps = 0;
  for (const node of graph.nodes.typeNamed(name)?.ids.values() ?? []) {
    budget.spend();
    if (!allowed.has(node)) allowed.add(node, 0, 0, 0);
    if (++steps % SLICE === 0) yield;
  }
}

/** Adds the nodes from which a node's list comes. */
function* addSubjects(
  { graph, budget, allowed }: Pick<Walk, 'graph' | 'budget' | 'allowed'>,
  node: number,
  of: { readonly list: number; readonly accepted?: number },
): Generator<void, void> {
  const newest = graph.newest(node, of.list);
  if (newest === 0) return;
  let record = newest;
  let steps = 0;
  do {
    record = graph.into.next[record] as number;
    budget.spend();
    if (++steps % SLICE === 0) yield;
    const bit = 1 << (graph.relations[record] as number);
    if (of.accepted !== undefined && (of.accepted & bit) === 0) continue;
    const subject = graph.subjects[record] as number;
    if (!allowed.has(subject)) allowed.add(subject, 0, 0, 0);
  } while (record !== newest);
}
