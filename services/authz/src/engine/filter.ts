import { type Fields, numberOf, satisfying } from '../tuples/relation.ts';
import { grantingIndexes, membershipIn, walkMax } from './check.ts';
import { addParents, type Budget, closePrincipals, type Scratch } from './closure.ts';
import { IN_GRANT, type TupleGraph } from './tuple-graph.ts';

/** A check without its object. */
export type Question = Omit<Fields, 'object_id'>;

type Run = {
  readonly graph: TupleGraph;
  readonly scratch: Scratch;
  readonly budget: Budget;
  readonly accepted: number;
  /** Principals that any grant names. */
  readonly granting: readonly number[];
};

/**
 * Tells for one object at a time whether a check would allow it; intermediate results are kept for the
 * next.
 */
export function filterBy(
  graph: TupleGraph,
  question: Question,
  scratch: Scratch,
  budget: Budget,
): (objectId: string) => boolean {
  const decide = decider(graph, question, scratch, budget);
  const known = new Map<number, boolean>();
  return (objectId) => {
    const object = graph.nodes.find(question.object_type, objectId);
    if (object === 0) return false;
    const before = known.get(object);
    if (before !== undefined) return before;
    const allowed = decide(object);
    known.set(object, allowed);
    return allowed;
  };
}

function decider(
  graph: TupleGraph,
  question: Question,
  scratch: Scratch,
  budget: Budget,
): (object: number) => boolean {
  if (question.relation === 'parent') {
    const subject = graph.nodes.find(question.user_type, question.user_id);
    return (object) => {
      budget.spend();
      return graph.find(subject, object, numberOf.parent) !== 0;
    };
  }
  const { principals, fruitless } = scratch;
  closePrincipals(graph, question, principals, budget);
  if (question.relation === 'member') return memberDecider(graph, scratch, budget);

  const granting = grantingIndexes(graph, principals).map(
    (slot) => principals.nodes[slot] as number,
  );
  const accepted = satisfying[question.relation];
  fruitless.begin(graph.nodes.size);
  const run: Run = { graph, scratch, budget, accepted, granting };
  return (object) => granting.length > 0 && isReached(run, object);
}

/** Every node that the closure reached over a tuple has a member in it; only its start is uncertain. */
function memberDecider(
  graph: TupleGraph,
  { principals }: Scratch,
  budget: Budget,
): (object: number) => boolean {
  return (group) => {
    const slot = principals.slotOf(group);
    if (slot < 0) return false;
    if (principals.over[slot] !== 0) return true;
    return membershipIn(graph, { group, principals, budget }) !== undefined;
  };
}

/** Climbs from the object until an ancestor has a grant; all nodes of a fruitless climb are remembered. */
function isReached(run: Run, object: number): boolean {
  const { graph, budget } = run;
  const { ancestors, fruitless } = run.scratch;
  ancestors.begin(graph.nodes.size);
  ancestors.add(object, 0, 0, 0);
  for (let slot = 0; slot < ancestors.count; slot++) {
    const node = ancestors.nodes[slot] as number;
    if (fruitless.has(node)) continue;
    if (hasGrant(run, node)) return true;
    addParents(graph, ancestors, slot, budget);
  }
  for (let slot = 0; slot < ancestors.count; slot++) {
    const node = ancestors.nodes[slot] as number;
    if (!fruitless.has(node)) fruitless.add(node, 0, 0, 0);
  }
  return false;
}

function hasGrant(run: Run, object: number): boolean {
  const { graph, scratch, budget, granting } = run;
  const newest = graph.newest(object, IN_GRANT);
  if (newest === 0) return false;
  let steps = walkMax(granting.length);
  let record = newest;
  do {
    if (steps-- === 0) return granting.some((subject) => hasPair(run, subject, object));
    record = graph.into.next[record] as number;
    budget.spend();
    if (!isAccepted(run, record)) continue;
    if (scratch.principals.has(graph.subjects[record] as number)) return true;
  } while (record !== newest);
  return false;
}

function hasPair(run: Run, subject: number, object: number): boolean {
  const { graph } = run;
  const mask = graph.pairs.length - 1;
  run.budget.spend();
  for (let slot = graph.slotOf(subject, object); ; slot = (slot + 1) & mask) {
    const record = graph.pairs[slot] as number;
    if (record === 0) return false;
    if (graph.joins(record, subject, object) && isAccepted(run, record)) return true;
  }
}

const isAccepted = ({ graph, accepted }: Run, record: number): boolean =>
  (accepted & (1 << (graph.relations[record] as number))) !== 0;
