import { type Fields, satisfying } from '../relations/relation.ts';
import { type Budget, PAUSE_RECORDS, type Walk } from './budget.ts';
import type { Closure, Scratch } from './closure.ts';
import { sortedByBytes } from './sorted-by-bytes.ts';
import type { TupleGraph } from './tuple-graph.ts';
import { IN_GRANT, IN_MEMBER, IN_PARENT } from './tuple-lists.ts';

/** A check without its principal's id. */
export type UsersQuestion = Omit<Fields, 'user_id'>;

export type ListedUsers = {
  /** Ids that some tuple names and that are allowed by a path without the wildcard of their own type. */
  readonly ids: readonly string[];
  /** Whether every id of the type is allowed. */
  readonly wildcard: boolean;
};

type Search = {
  readonly graph: TupleGraph;
  readonly question: UsersQuestion;
  readonly budget: Budget;
  /** The allowed principals, in the order in which the walk reached them. */
  readonly allowed: Closure;
  readonly ancestors: Closure;
};

/**
 * Finds every principal of the type for which a check would be allowed: it walks from the object back to the subjects
 * of grants, and from groups to their members.
 */
export function* listUsers(
  graph: TupleGraph,
  question: UsersQuestion,
  { scratch, budget }: { readonly scratch: Scratch; readonly budget: Budget },
): Walk<ListedUsers> {
  const { principals: allowed, ancestors } = scratch;
  allowed.begin(graph.nodes.size);
  const search: Search = { graph, question, budget, allowed, ancestors };
  const object = graph.nodes.find(question.object_type, question.object_id);
  if (object !== 0) yield* addHolders(search, object);
  // `parent` only matches stored tuples, without groups and wildcards.
  if (question.relation !== 'parent') yield* addMembers(search);

  const type = graph.nodes.typeNamed(question.user_type);
  const wild = graph.nodes.wildcardOf(question.user_type);
  const ids: string[] = [];
  for (let slot = 0; slot < allowed.count; slot++) {
    const node = allowed.nodes[slot] as number;
    if (type !== 0 && graph.nodes.isOfType(node, type) && node !== wild) {
      ids.push(graph.nodes.idOf(node));
    }
    if (slot % PAUSE_RECORDS === PAUSE_RECORDS - 1) yield;
  }
  return { ids: yield* sortedByBytes(ids), wildcard: wild !== 0 && allowed.has(wild) };
}

/** Adds the subjects of the tuples that grant the relation on the object itself or, if it is inherited, above it. */
function* addHolders(search: Search, object: number): Walk<void> {
  const { graph, question, budget, ancestors } = search;
  const { relation } = question;
  if (relation === 'parent') return yield* addSubjects(search, object, { list: IN_PARENT });
  if (relation === 'member') return yield* addSubjects(search, object, { list: IN_MEMBER });
  const accepted = satisfying[relation];
  ancestors.begin(graph.nodes.size);
  ancestors.add(object, 0, 0);
  for (let slot = 0; slot < ancestors.count; slot++) {
    const node = ancestors.nodes[slot] as number;
    yield* addSubjects(search, node, { list: IN_GRANT, accepted });
    yield* addSubjects({ ...search, allowed: ancestors }, node, { list: IN_PARENT });
    budget.spend();
  }
}

/** Every member of an allowed group is allowed, as is every id of an allowed wildcard's type. */
function* addMembers(search: Search): Walk<void> {
  const { graph, question, allowed } = search;
  for (let slot = 0; slot < allowed.count; slot++) {
    const node = allowed.nodes[slot] as number;
    yield* addSubjects(search, node, { list: IN_MEMBER });
    // `wildcard` covers the users of the requested type.
    const type = graph.nodes.typeOf(node);
    if (graph.nodes.wildcardBeside(node) === node && type !== question.user_type) {
      yield* addAllOfType(search, type);
    }
    if (slot % PAUSE_RECORDS === PAUSE_RECORDS - 1) yield;
  }
}

/** Scans all nodes. Many of them cost as much as one record that is followed. */
function* addAllOfType({ graph, budget, allowed }: Search, name: string): Walk<void> {
  const type = graph.nodes.typeNamed(name);
  for (let node = 1; node < graph.nodes.size; node++) {
    if (node % NODES_PER_RECORD === 0) budget.spend();
    if (graph.nodes.isOfType(node, type) && !allowed.has(node)) allowed.add(node, 0, 0);
    if (node % PAUSE_RECORDS === 0) yield;
  }
}
const NODES_PER_RECORD = 16;

/** Adds the nodes from which a node's list comes. */
function* addSubjects(
  { graph, budget, allowed }: Pick<Search, 'graph' | 'budget' | 'allowed'>,
  node: number,
  of: { readonly list: number; readonly accepted?: number },
): Walk<void> {
  const newest = graph.newest(node, of.list);
  if (newest === 0) return;
  let record = newest;
  do {
    record = graph.records.nextIn(record);
    budget.spend();
    if (budget.pauseIsDue()) yield;
    const bit = 1 << graph.records.relationNumber(record);
    if (of.accepted !== undefined && (of.accepted & bit) === 0) continue;
    const subject = graph.records.subjectOf(record);
    if (!allowed.has(subject)) allowed.add(subject, 0, 0);
  } while (record !== newest);
}
