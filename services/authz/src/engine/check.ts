import { type Fields, numberOf, satisfying } from '../tuples/relation.ts';
import { addParents, type Budget, type Closure, closePrincipals, type Scratch } from './closure.ts';
import { IN_GRANT, IN_MEMBER, OUT_GRANT, type TupleGraph } from './tuple-graph.ts';

/** A path from principal to object, as records, with the record that grants. */
export type Path = { readonly records: readonly number[]; readonly grant: number };

/** The path that allows it; or, where it is denied, the record of the strongest grant that was not enough. */
export type Outcome =
  | { readonly allowed: true; readonly path: Path }
  | { readonly allowed: false; readonly nearMiss?: number };

const DENIED: Outcome = { allowed: false };

/** Strength of an insufficient grant, by relation number: editor, viewer, can_write, can_read. */
const WEAKNESS = [0, 1, 2, 4, 3] as const;

/** A tuple that a path may use, and the slots of the two closures that it connects. */
type Grant = { record: number; principal: number; ancestor: number; length: number };

type Run = {
  readonly graph: TupleGraph;
  readonly scratch: Scratch;
  readonly budget: Budget;
  readonly accepted: number;
  /** Slots of principals that have any grant, in order. */
  readonly granting: readonly number[];
  best: Grant | undefined;
  nearMiss: Grant | undefined;
};

/** Whether the subject has the relation to the object, and the shortest, oldest path that gives it. */
export function check(
  graph: TupleGraph,
  fields: Fields,
  scratch: Scratch,
  budget: Budget,
): Outcome {
  switch (fields.relation) {
    case 'owner':
    case 'editor':
    case 'viewer':
    case 'can_read':
    case 'can_write':
      return checkFlowing(graph, fields, scratch, budget);
    case 'member':
      return checkMember(graph, fields, scratch, budget);
    case 'parent':
      return checkParent(graph, fields);
  }
}

function checkFlowing(
  graph: TupleGraph,
  fields: Fields,
  scratch: Scratch,
  budget: Budget,
): Outcome {
  const { principals, ancestors } = scratch;
  closePrincipals(graph, fields, principals, budget);
  const granting = grantingIndexes(graph, principals);
  const first = granting[0];
  const object = graph.nodes.find(fields.object_type, fields.object_id);
  if (first === undefined || object === 0) return DENIED;
  const nearest = principals.distance[first] as number;

  const accepted = satisfying[fields.relation];
  const run: Run = {
    graph,
    scratch,
    budget,
    accepted,
    granting,
    best: undefined,
    nearMiss: undefined,
  };
  ancestors.begin(graph.nodes.size);
  ancestors.add(object, 0, 0, 0);
  for (let slot = 0; slot < ancestors.count; slot++) {
    const shortest = (ancestors.distance[slot] as number) + 1 + nearest;
    if (run.best !== undefined && shortest > run.best.length) break;
    considerGrantsOn(run, slot);
    addParents(graph, ancestors, slot, budget);
  }

  if (run.best !== undefined) return { allowed: true, path: pathOf(run, run.best) };
  return run.nearMiss === undefined ? DENIED : { allowed: false, nearMiss: run.nearMiss.record };
}

/** The principals that any grant names, nearest first because the closure has that order. */
export function grantingIndexes(graph: TupleGraph, principals: Closure): readonly number[] {
  const slots: number[] = [];
  for (let slot = 0; slot < principals.count; slot++) {
    if (graph.newest(principals.nodes[slot] as number, OUT_GRANT) !== 0) slots.push(slot);
  }
  return slots;
}

/** Walks the grants on an ancestor, or looks up each principal's if there are fewer principals. */
function considerGrantsOn(run: Run, ancestor: number): void {
  const { graph, scratch, budget, granting } = run;
  const node = scratch.ancestors.nodes[ancestor] as number;
  const newest = graph.newest(node, IN_GRANT);
  if (newest === 0) return;
  let steps = walkMax(granting.length);
  let record = newest;
  do {
    if (steps-- === 0) {
      considerPairs(run, ancestor, node);
      return;
    }
    record = graph.into.next[record] as number;
    budget.spend();
    const principal = scratch.principals.slotOf(graph.subjects[record] as number);
    if (principal >= 0) consider(run, record, principal, ancestor);
  } while (record !== newest);
}

/** With more grants than this on one object it is cheaper to look each principal up. */
export const walkMax = (principals: number): number => 4 * principals + 8;

function considerPairs(run: Run, ancestor: number, object: number): void {
  const { graph, scratch, budget } = run;
  const mask = graph.pairs.length - 1;
  for (const principal of run.granting) {
    const subject = scratch.principals.nodes[principal] as number;
    budget.spend();
    for (let slot = graph.slotOf(subject, object); ; slot = (slot + 1) & mask) {
      const record = graph.pairs[slot] as number;
      if (record === 0) break;
      if (graph.joins(record, subject, object)) consider(run, record, principal, ancestor);
    }
  }
}

function consider(run: Run, record: number, principal: number, ancestor: number): void {
  const { graph, scratch } = run;
  const relation = graph.relations[record] as number;
  if (relation > numberOf.can_write) return;
  const length =
    (scratch.principals.distance[principal] as number) +
    1 +
    (scratch.ancestors.distance[ancestor] as number);
  const grant: Grant = { record, principal, ancestor, length };
  if ((run.accepted & (1 << relation)) !== 0) {
    if (run.best === undefined || isPreferred(graph, grant, run.best)) run.best = grant;
    return;
  }
  if (run.best !== undefined) return;
  const before = run.nearMiss;
  const weaker = before && weaknessOf(graph, record) - weaknessOf(graph, before.record);
  if (before === undefined || weaker === undefined || weaker < 0) run.nearMiss = grant;
  else if (weaker === 0 && isPreferred(graph, grant, before)) run.nearMiss = grant;
}

const weaknessOf = (graph: TupleGraph, record: number): number =>
  WEAKNESS[graph.relations[record] as number] as number;

/** Fewer tuples first, then the older grant. */
function isPreferred(graph: TupleGraph, grant: Grant, before: Grant): boolean {
  if (grant.length !== before.length) return grant.length < before.length;
  return (graph.sequence[grant.record] as number) < (graph.sequence[before.record] as number);
}

function checkMember(graph: TupleGraph, fields: Fields, scratch: Scratch, budget: Budget): Outcome {
  const { principals } = scratch;
  const group = graph.nodes.find(fields.object_type, fields.object_id);
  if (group === 0 || graph.newest(group, IN_MEMBER) === 0) return DENIED;
  closePrincipals(graph, fields, principals, budget);
  const best = membershipIn(graph, { group, principals, budget });
  if (best === undefined) return DENIED;
  return { allowed: true, path: memberPath(principals, best) };
}

/** The preferred tuple that makes one of the principals a member of the group. */
export function membershipIn(
  graph: TupleGraph,
  of: { readonly group: number; readonly principals: Closure; readonly budget: Budget },
): Grant | undefined {
  const { group, principals, budget } = of;
  let best: Grant | undefined;
  const consider = (record: number, principal: number) => {
    const length = (principals.distance[principal] as number) + 1;
    const grant: Grant = { record, principal, ancestor: 0, length };
    if (best === undefined || isPreferred(graph, grant, best)) best = grant;
  };
  const newest = graph.newest(group, IN_MEMBER);
  if (newest === 0) return undefined;
  let steps = walkMax(principals.count);
  let record = newest;
  do {
    if (steps-- === 0) {
      lookUpMembers(graph, of, consider);
      break;
    }
    record = graph.into.next[record] as number;
    budget.spend();
    const slot = principals.slotOf(graph.subjects[record] as number);
    if (slot >= 0) consider(record, slot);
  } while (record !== newest);
  return best;
}

function lookUpMembers(
  graph: TupleGraph,
  of: { readonly group: number; readonly principals: Closure; readonly budget: Budget },
  consider: (record: number, principal: number) => void,
): void {
  for (let slot = 0; slot < of.principals.count; slot++) {
    of.budget.spend();
    const principal = of.principals.nodes[slot] as number;
    const record = graph.find(principal, of.group, numberOf.member);
    if (record !== 0) consider(record, slot);
  }
}

/** Only the stored tuple itself: no groups, no wildcard, no intermediate steps. */
function checkParent(graph: TupleGraph, fields: Fields): Outcome {
  const { nodes } = graph;
  const record = graph.find(
    nodes.find(fields.user_type, fields.user_id),
    nodes.find(fields.object_type, fields.object_id),
    numberOf.parent,
  );
  if (record === 0) return DENIED;
  return { allowed: true, path: { records: [record], grant: record } };
}

/** Member tuples from the principal up, the grant, then parent tuples down to the object. */
function pathOf(run: Run, grant: Grant): Path {
  const down = recordsTo(run.scratch.ancestors, grant.ancestor);
  return {
    records: [
      ...recordsTo(run.scratch.principals, grant.principal).reverse(),
      grant.record,
      ...down,
    ],
    grant: grant.record,
  };
}

const memberPath = (principals: Closure, grant: Grant): Path => ({
  records: [...recordsTo(principals, grant.principal).reverse(), grant.record],
  grant: grant.record,
});

/** The records of the path to a slot, the last first. */
function recordsTo(closure: Closure, slot: number): number[] {
  const records: number[] = [];
  for (let at = slot + 1; at !== 0; at = closure.from[at - 1] as number) {
    const record = closure.over[at - 1] as number;
    if (record !== 0) records.push(record);
  }
  return records;
}
