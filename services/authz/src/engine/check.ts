import { type Fields, numberOf, satisfying } from '../relations/relation.ts';
import { type Budget, PAUSE_RECORDS, type Walk } from './budget.ts';
import {
  addParents,
  copyAt,
  followMemberships,
  NOT_REACHED,
  type Principals,
  type Scratch,
} from './closure.ts';
import { NOT_COPIED } from './inner-lists.ts';
import type { NodeTuple, TupleGraph } from './tuple-graph.ts';
import { GRANTS, IN_GRANT, IN_MEMBER, isOfSeveral, numberIn, relationIn } from './tuple-lists.ts';

/** A grant that connects the two ends. If denied, the strongest grant that was insufficient. */
export type Found = { readonly allowed: boolean; readonly grant?: Grant };

const DENIED: Found = { allowed: false };

/** The strength of insufficient grants, by relation number: editor, viewer, can_write, can_read. */
const WEAKNESS = [0, 1, 2, 4, 3] as const;

/** A tuple that a path may use, and how many tuples the path has. */
export type Grant = NodeTuple & {
  /**
   * Positions in the two closures that it connects: of the principal and, for relations that are inherited, of the
   * ancestor.
   */
  readonly principal: number;
  readonly ancestor: number;
  readonly length: number;
};

/** If one object has more grants than this, looking each principal up is cheaper. */
export const walkMax = (principals: number): number => Math.min(4 * principals + 8, PAUSE_RECORDS);

type Run<T> = {
  readonly graph: TupleGraph;
  readonly scratch: Scratch;
  readonly budget: Budget;
  /**
   * Turns the result into the answer. It is called here because a generator around another one makes a check 10 %
   * slower.
   */
  readonly answer: (found: Found) => T;
};

/**
 * Whether the subject has the relation to the object, and the shortest, oldest path that grants it. The positions in
 * the result refer to `scratch` and are valid until its next use.
 */
export function check<T>(run: Run<T>, fields: Fields): Walk<T> {
  switch (fields.relation) {
    case 'owner':
    case 'editor':
    case 'viewer':
    case 'can_read':
    case 'can_write':
      return checkFlowing(run, fields);
    case 'member':
      return checkMember(run, fields);
    case 'parent':
      return checkParent(run, fields);
  }
}

function* checkFlowing<T>(run: Run<T>, fields: Fields): Walk<T> {
  const { graph, scratch, budget } = run;
  const { principals, ancestors } = scratch;
  const { subject, object, wildcard } = graph.nodes.ends(fields);
  if (object === 0) return run.answer(DENIED);
  graph.readAhead(subject, object);
  principals.startAt(graph, subject, wildcard);
  while (!followMemberships(graph, principals, budget)) yield;
  if (principals.grantingCount === 0) return run.answer(DENIED);
  const nearest = principals.distance[principals.granting[0] as number] as number;

  const search = new GrantSearch(graph, scratch, budget, satisfying[fields.relation]);
  ancestors.begin(graph.nodes.size);
  ancestors.add(object, 0, 0);
  while (ancestors.at < ancestors.count) {
    const shortest = (ancestors.distance[ancestors.at] as number) + 1 + nearest;
    if (search.best !== undefined && shortest > search.best.length) break;
    let rest = search.walk();
    while (rest < principals.grantingCount) {
      rest = search.lookUp(rest);
      if (budget.pauseIsDue()) yield;
    }
    while (!addParents(graph, ancestors, budget)) yield;
    if (budget.pauseIsDue()) yield;
  }
  return run.answer(search.found());
}

/** Searches for the preferred grant, and for the best insufficient one. */
class GrantSearch {
  best: Grant | undefined;
  #nearMiss: Grant | undefined;
  readonly #graph: TupleGraph;
  readonly #scratch: Scratch;
  readonly #budget: Budget;
  readonly #accepted: number;

  constructor(graph: TupleGraph, scratch: Scratch, budget: Budget, accepted: number) {
    this.#graph = graph;
    this.#scratch = scratch;
    this.#budget = budget;
    this.#accepted = accepted;
  }

  found(): Found {
    const grant = this.best ?? this.#nearMiss;
    return grant === undefined ? DENIED : { allowed: this.best !== undefined, grant };
  }

  /**
   * Walks the grants on the ancestor at `at`. Returns 0, the position from which `lookUp` continues, if the grants are
   * so numerous that looking each principal up is cheaper.
   */
  walk(): number {
    const { principals, ancestors } = this.#scratch;
    const { inner } = this.#graph;
    const copy = copyAt(this.#graph, ancestors);
    const count = inner.count(copy, GRANTS);
    if (count === NOT_COPIED) return this.#walkList();
    this.#budget.spend(count);
    const start = inner.start(copy, GRANTS);
    for (let at = start; at < start + count; at++) {
      const principal = principals.slotOf(inner.endAt(at));
      if (principal >= 0) this.#consider(inner.relationAt(at), principal);
    }
    return principals.grantingCount;
  }

  #walkList(): number {
    const { principals, ancestors } = this.#scratch;
    const graph = this.#graph;
    const node = ancestors.nodes[ancestors.at] as number;
    const head = graph.head(node, IN_GRANT);
    if (head === 0) return principals.grantingCount;
    if (!isOfSeveral(head)) {
      this.#budget.spend();
      const principal = principals.slotOf(numberIn(head));
      if (principal >= 0) this.#consider(relationIn(head), principal);
      return principals.grantingCount;
    }
    const newest = numberIn(head);
    let steps = walkMax(principals.grantingCount);
    let record = newest;
    do {
      if (steps-- === 0) return 0;
      record = graph.records.nextIn(record);
      this.#budget.spend();
      const principal = principals.slotOf(graph.records.subjectOf(record));
      if (principal >= 0) this.#consider(graph.records.relationNumber(record), principal);
    } while (record !== newest);
    return principals.grantingCount;
  }

  /** Looks up the grants of some principals on the ancestor at `at`. Returns the position to continue from. */
  lookUp(from: number): number {
    const { principals, ancestors } = this.#scratch;
    const { records } = this.#graph;
    const object = ancestors.nodes[ancestors.at] as number;
    const end = Math.min(from + PAUSE_RECORDS, principals.grantingCount);
    for (let at = from; at < end; at++) {
      const principal = principals.granting[at] as number;
      this.#budget.spend();
      let record = records.firstOfPair(principals.nodes[principal] as number, object);
      for (; record !== 0; record = records.nextOfPair(record)) {
        this.#consider(records.relationNumber(record), principal);
      }
    }
    return end;
  }

  #consider(relation: number, principal: number): void {
    const { principals, ancestors } = this.#scratch;
    if (relation > numberOf.can_write) return;
    const isEnough = (this.#accepted & (1 << relation)) !== 0;
    const before = isEnough ? this.best : this.#nearMiss;
    if (!isEnough && this.best !== undefined) return;
    const ancestor = ancestors.at;
    const length =
      (principals.distance[principal] as number) + 1 + (ancestors.distance[ancestor] as number);
    const subject = principals.nodes[principal] as number;
    const object = ancestors.nodes[ancestor] as number;
    const grant: Grant = { subject, relation, object, principal, ancestor, length };
    if (before !== undefined) {
      const weaker = isEnough ? 0 : weaknessOf(relation) - weaknessOf(before.relation);
      if (weaker > 0 || (weaker === 0 && !isPreferred(this.#graph, grant, before))) return;
    }
    if (isEnough) this.best = grant;
    else this.#nearMiss = grant;
  }
}

const weaknessOf = (relation: number): number => WEAKNESS[relation] as number;

/** Prefers fewer tuples, then the older grant. */
function isPreferred(graph: TupleGraph, grant: Grant, before: Grant): boolean {
  if (grant.length !== before.length) return grant.length < before.length;
  return graph.sequenceOf(grant) < graph.sequenceOf(before);
}

function* checkMember<T>({ graph, scratch, budget, answer }: Run<T>, fields: Fields): Walk<T> {
  const { principals } = scratch;
  const group = graph.nodes.find(fields.object_type, fields.object_id);
  if (group === 0 || graph.isEmpty(group, IN_MEMBER)) return answer(DENIED);
  principals.start(graph, fields);
  while (!followMemberships(graph, principals, budget)) yield;
  const best = yield* membershipIn(graph, { group, principals, budget });
  return answer(best === undefined ? DENIED : { allowed: true, grant: best });
}

/** Returns the preferred tuple among those that make one of the principals a member of the group. */
export function* membershipIn(
  graph: TupleGraph,
  of: { readonly group: number; readonly principals: Principals; readonly budget: Budget },
): Walk<Grant | undefined> {
  const { group, principals, budget } = of;
  let best: Grant | undefined;
  const consider = (principal: number) => {
    const subject = principals.nodes[principal] as number;
    const length = (principals.distance[principal] as number) + 1;
    const tuple = { subject, relation: numberOf.member, object: group };
    const grant: Grant = { ...tuple, principal, ancestor: NOT_REACHED, length };
    if (best === undefined || isPreferred(graph, grant, best)) best = grant;
  };
  const newest = graph.newest(group, IN_MEMBER);
  let steps = walkMax(principals.count);
  let record = newest;
  while (newest !== 0 && steps-- > 0) {
    record = graph.records.nextIn(record);
    budget.spend();
    const slot = principals.slotOf(graph.records.subjectOf(record));
    if (slot >= 0) consider(slot);
    if (record === newest) return best;
  }
  // There are so many members that looking each principal up is cheaper.
  for (let slot = 0; newest !== 0 && slot < principals.count; slot++) {
    budget.spend();
    const subject = principals.nodes[slot] as number;
    if (graph.find(subject, group, numberOf.member) !== 0) consider(slot);
    if (budget.pauseIsDue()) yield;
  }
  return best;
}

/** Looks only for the stored tuple itself, without groups, wildcards or intermediate steps. */
// biome-ignore lint/correctness/useYield: one look-up; the others pause.
function* checkParent<T>({ graph, answer }: Run<T>, fields: Fields): Walk<T> {
  const { subject, object } = graph.nodes.ends(fields);
  const relation = numberOf.parent;
  if (graph.find(subject, object, relation) === 0) return answer(DENIED);
  const tuple = { subject, relation, object };
  const grant: Grant = { ...tuple, principal: NOT_REACHED, ancestor: NOT_REACHED, length: 1 };
  return answer({ allowed: true, grant });
}

/**
 * The path of an allowed check: member tuples from the principal up, the grant, then parent tuples down to the object.
 * The walk knows all of it, so the tuples' own records, which may not be in the processor's cache, are not read.
 */
export function pathOf({ principals, ancestors }: Scratch, grant: Grant): readonly NodeTuple[] {
  const path: NodeTuple[] = [];
  for (let slot = grant.principal; slot >= 0; slot = principals.before(slot)) {
    if (!principals.isOverTuple(slot)) continue;
    const subject = principals.nodes[principals.before(slot)] as number;
    path.push({ subject, relation: numberOf.member, object: principals.nodes[slot] as number });
  }
  path.reverse();
  path.push(grant);
  for (let slot = grant.ancestor; slot > 0; slot = ancestors.before(slot)) {
    const object = ancestors.nodes[ancestors.before(slot)] as number;
    path.push({ subject: ancestors.nodes[slot] as number, relation: numberOf.parent, object });
  }
  return path;
}
