import { type Fields, numberOf, satisfying } from '../relations/relation.ts';
import { type Budget, PAUSE_RECORDS, type Walk } from './budget.ts';
import { membershipIn, walkMax } from './check.ts';
import { addParents, followMemberships, type Scratch } from './closure.ts';
import type { TupleGraph } from './tuple-graph.ts';
import { IN_GRANT, isOfSeveral, numberIn, relationIn } from './tuple-lists.ts';

/** A check without its object. */
export type Question = Omit<Fields, 'object_id'>;

type Run = {
  readonly graph: TupleGraph;
  readonly scratch: Scratch;
  readonly budget: Budget;
  readonly accepted: number;
};

/** Returns for each object whether a check would allow it. Intermediate results are reused for the next object. */
export function* filter(
  run: Omit<Run, 'accepted'>,
  question: Question,
  objectIds: readonly string[],
): Walk<readonly boolean[]> {
  const { graph, scratch, budget } = run;
  const decide = decider({ ...run, accepted: satisfying[question.relation] }, question);
  if (question.relation !== 'parent') {
    scratch.principals.start(graph, question);
    while (!followMemberships(graph, scratch.principals, budget)) yield;
  }
  scratch.fruitless.begin(graph.nodes.size);

  const known = new Map<number, boolean>([[0, false]]);
  const answers: boolean[] = [];
  for (const objectId of objectIds) {
    const object = graph.nodes.find(question.object_type, objectId);
    let allowed = known.get(object);
    if (allowed === undefined) {
      allowed = yield* decide(object);
      known.set(object, allowed);
    }
    answers.push(allowed);
    if (budget.pauseIsDue()) yield;
  }
  return answers;
}

function decider(run: Run, question: Question): (object: number) => Walk<boolean> {
  switch (question.relation) {
    case 'owner':
    case 'editor':
    case 'viewer':
    case 'can_read':
    case 'can_write':
      return (object) => isReached(run, object);
    case 'member':
      return (group) => hasMember(run, group);
    case 'parent': {
      const { graph, budget } = run;
      const subject = graph.nodes.find(question.user_type, question.user_id);
      // biome-ignore lint/correctness/useYield: one look-up; the others pause.
      return function* (object) {
        budget.spend();
        return graph.find(subject, object, numberOf.parent) !== 0;
      };
    }
  }
}

/**
 * Whether the group has a member in the closure. Every node that was reached over a tuple has one; only the start is
 * uncertain.
 */
function* hasMember({ graph, scratch, budget }: Run, group: number): Walk<boolean> {
  const { principals } = scratch;
  const slot = principals.slotOf(group);
  if (slot < 0) return false;
  if (principals.isOverTuple(slot)) return true;
  return (yield* membershipIn(graph, { group, principals, budget })) !== undefined;
}

/** Climbs from the object until an ancestor has a grant. All nodes of a climb without result are cached. */
function* isReached(run: Run, object: number): Walk<boolean> {
  const { graph, budget } = run;
  const { principals, ancestors, fruitless } = run.scratch;
  if (principals.grantingCount === 0) return false;
  ancestors.begin(graph.nodes.size);
  ancestors.add(object, 0, 0);
  while (ancestors.at < ancestors.count) {
    const node = ancestors.nodes[ancestors.at] as number;
    if (fruitless.has(node)) {
      ancestors.at++;
      continue;
    }
    const walked = walkGrants(run, node);
    if (walked === true || (walked === undefined && (yield* hasAnyPair(run, node)))) return true;
    while (!addParents(graph, ancestors, budget)) yield;
    if (budget.pauseIsDue()) yield;
  }
  for (let slot = 0; slot < ancestors.count; slot++) {
    const node = ancestors.nodes[slot] as number;
    if (!fruitless.has(node)) fruitless.add(node, 0, 0);
  }
  return false;
}

/** Whether the object has a grant for one of the principals. Undefined if it has too many grants to walk. */
function walkGrants(run: Run, object: number): boolean | undefined {
  const { graph, scratch, budget } = run;
  const head = graph.head(object, IN_GRANT);
  if (head === 0) return false;
  if (!isOfSeveral(head)) {
    budget.spend();
    return isEnough(run, relationIn(head)) && scratch.principals.has(numberIn(head));
  }
  const newest = numberIn(head);
  let steps = walkMax(scratch.principals.grantingCount);
  let record = newest;
  do {
    if (steps-- === 0) return undefined;
    record = graph.records.nextIn(record);
    budget.spend();
    if (!isEnough(run, graph.records.relationNumber(record))) continue;
    if (scratch.principals.has(graph.records.subjectOf(record))) return true;
  } while (record !== newest);
  return false;
}

function* hasAnyPair(run: Run, object: number): Walk<boolean> {
  const { principals } = run.scratch;
  for (let at = 0; at < principals.grantingCount; at++) {
    const subject = principals.nodes[principals.granting[at] as number] as number;
    if (hasPair(run, subject, object)) return true;
    if (at % PAUSE_RECORDS === PAUSE_RECORDS - 1) yield;
  }
  return false;
}

function hasPair(run: Run, subject: number, object: number): boolean {
  const { records } = run.graph;
  run.budget.spend();
  let record = records.firstOfPair(subject, object);
  for (; record !== 0; record = records.nextOfPair(record))
    if (isEnough(run, records.relationNumber(record))) return true;
  return false;
}

const isEnough = ({ accepted }: Run, relation: number): boolean =>
  (accepted & (1 << relation)) !== 0;
