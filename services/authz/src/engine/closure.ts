import type { Budget } from './budget.ts';
import { grown } from './growing.ts';
import { NO_COPY, NOT_COPIED } from './inner-lists.ts';
import type { TupleGraph } from './tuple-graph.ts';
import {
  IN_PARENT,
  isOfSeveral,
  MEMBERSHIPS,
  numberIn,
  OUT_GRANT,
  OUT_MEMBER,
  PARENTS,
} from './tuple-lists.ts';

const FIRST_SIZE = 64;
const STAMP_MAX = 0xffffffff;

/** Returned instead of a slot. */
export const NOT_REACHED = -1;
/**
 * The largest set that is searched linearly. Searching adjacent entries is faster than one memory access outside the
 * cache.
 */
const SEARCHED_MAX = 16;

/**
 * A set of nodes in breadth-first order, with the path to each. A small set is searched linearly. In a larger set each
 * node has an entry `base + slot`; raising the base invalidates all entries at once, so nothing is cleared between
 * runs.
 */
export class Closure {
  count = 0;
  nodes = new Uint32Array(FIRST_SIZE);
  /** The slot from which each node was reached, plus one; 0 for the start. */
  from = new Uint32Array(FIRST_SIZE);
  /** The number of tuples between the start and the node. */
  distance = new Uint32Array(FIRST_SIZE);
  /** The slot whose list is being followed, and the last record of that list that was read; 0 before the first. */
  at = 0;
  lastRecord = 0;
  /** The entries of a set that is too large to be searched linearly. */
  #marks = new Uint32Array(FIRST_SIZE);
  #base = 1;
  #nodesMax = 0;

  /** Clears the set, for a graph with this number of nodes. */
  begin(nodes: number): void {
    this.#base += this.count;
    this.count = 0;
    this.at = 0;
    this.lastRecord = 0;
    this.#nodesMax = nodes;
    if (this.#base + nodes > STAMP_MAX) {
      this.#marks.fill(0);
      this.#base = 1;
    }
  }

  /** The node's slot; negative if it is not in the set. */
  slotOf(node: number): number {
    if (this.count > SEARCHED_MAX) return (this.#marks[node] as number) - this.#base;
    let slot = this.count - 1;
    while (slot >= 0 && this.nodes[slot] !== node) slot--;
    return slot;
  }

  /** Whether the slot was reached over tuples. Other walks will reach its node, too. */
  isInner(): boolean {
    return this.from[this.at] !== 0;
  }

  has(node: number): boolean {
    return this.slotOf(node) >= 0;
  }

  /** The slot from which it was reached; negative for the start. */
  before(slot: number): number {
    return (this.from[slot] as number) - 1;
  }

  /** False for the start, and for a wildcard, which is added together with the node before it. */
  isOverTuple(slot: number): boolean {
    const before = this.before(slot);
    return before >= 0 && this.distance[before] !== this.distance[slot];
  }

  add(node: number, from: number, distance: number): void {
    const slot = this.count++;
    if (slot >= this.nodes.length) {
      this.nodes = grown(this.nodes, this.count);
      this.from = grown(this.from, this.count);
      this.distance = grown(this.distance, this.count);
    }
    this.nodes[slot] = node;
    this.from[slot] = from;
    this.distance[slot] = distance;
    if (slot === SEARCHED_MAX) this.#markAll();
    else if (slot > SEARCHED_MAX) this.#marks[node] = this.#base + slot;
  }

  #markAll(): void {
    if (this.#nodesMax > this.#marks.length) this.#marks = grown(this.#marks, this.#nodesMax);
    for (let slot = 0; slot < this.count; slot++) {
      this.#marks[this.nodes[slot] as number] = this.#base + slot;
    }
  }
}

/** The set P(s), and those of its nodes that are the subject of a grant. */
export class Principals extends Closure {
  /** Slots of principals that are the subject of a grant, in order. */
  granting = new Uint32Array(FIRST_SIZE);
  grantingCount = 0;

  start(
    graph: TupleGraph,
    subject: { readonly user_type: string; readonly user_id: string },
  ): void {
    const { user_type, user_id } = subject;
    const { nodes } = graph;
    this.startAt(graph, nodes.find(user_type, user_id), nodes.wildcardOf(user_type));
  }

  /** `start` is 0 if no tuple names the principal; `wild` is 0 if none names the wildcard of its type. */
  startAt(graph: TupleGraph, start: number, wild: number): void {
    this.begin(graph.nodes.size);
    this.grantingCount = 0;
    if (start !== 0) this.add(start, 0, 0);
    if (wild === 0 || wild === start) return;
    this.add(wild, this.count, 0);
  }

  /** Adds the node that a membership leads to, and directly after it the wildcard of its type. */
  enter(graph: TupleGraph, node: number): void {
    if (this.has(node)) return;
    const distance = (this.distance[this.at] as number) + 1;
    this.add(node, this.at + 1, distance);
    const wild = graph.nodes.wildcardBeside(node);
    if (wild === 0 || this.has(wild)) return;
    this.add(wild, this.count, distance);
  }

  /** Records that a grant names the principal at `at`. */
  addGranting(): void {
    if (this.grantingCount >= this.granting.length) {
      this.granting = grown(this.granting, this.grantingCount + 1);
    }
    this.granting[this.grantingCount++] = this.at;
  }
}

/** Buffers of a walk. Walks that never pause share one; a walk that pauses has its own. */
export type Scratch = {
  readonly principals: Principals;
  readonly ancestors: Closure;
  /** Nodes that are known to lead to no grant, for the rest of a request. */
  readonly fruitless: Closure;
};

export const newScratch = (): Scratch => ({
  principals: new Principals(),
  ancestors: new Closure(),
  fruitless: new Closure(),
});

/**
 * Computes P(s): the principal, every group that it is in at any depth, and the wildcard of each type among them. A
 * wildcard follows directly after the first node of its type, at the same distance. Follows memberships from
 * `into.start` on. Returns false if it has to be called again after a pause.
 */
export function followMemberships(graph: TupleGraph, into: Principals, budget: Budget): boolean {
  const { inner } = graph;
  for (; into.at < into.count; into.at++) {
    if (budget.pauseIsDue()) return false;
    const node = into.nodes[into.at] as number;
    const copy = copyAt(graph, into);
    const count = inner.count(copy, MEMBERSHIPS);
    if (into.lastRecord === 0) {
      const holds = copy === NO_COPY ? !graph.isEmpty(node, OUT_GRANT) : inner.holdsGrant(copy);
      if (holds) into.addGranting();
    }
    if (count === NOT_COPIED) {
      if (!followList(graph, into, budget)) return false;
      continue;
    }
    budget.spend(count);
    const start = inner.start(copy, MEMBERSHIPS);
    for (let at = start; at < start + count; at++) into.enter(graph, inner.endAt(at));
  }
  return true;
}

/** The copied lists of the node at `into.at`, if other walks may reach that node. */
export const copyAt = ({ inner }: TupleGraph, into: Closure): number =>
  into.isInner() ? inner.of(into.nodes[into.at] as number) : NO_COPY;

/** Separate from {@link addListedParents}, because one walk for both made a check 10 % slower. */
function followList(graph: TupleGraph, into: Principals, budget: Budget): boolean {
  const node = into.nodes[into.at] as number;
  const head = graph.head(node, OUT_MEMBER);
  if (head === 0) return true;
  if (!isOfSeveral(head)) {
    budget.spend();
    into.enter(graph, numberIn(head));
    return true;
  }
  const newest = numberIn(head);
  let record = into.lastRecord === 0 ? newest : into.lastRecord;
  do {
    record = graph.records.nextOut(record);
    budget.spend();
    into.enter(graph, graph.records.objectOf(record));
    if (record !== newest && budget.pauseIsDue()) {
      into.lastRecord = record;
      return false;
    }
  } while (record !== newest);
  into.lastRecord = 0;
  return true;
}

/**
 * Adds the parents of the node at `into.at` to A(o), oldest first, and moves to the next slot. Returns false if it has
 * to be called again after a pause.
 */
export function addParents(graph: TupleGraph, into: Closure, budget: Budget): boolean {
  const { inner } = graph;
  const copy = copyAt(graph, into);
  const count = inner.count(copy, PARENTS);
  if (count === NOT_COPIED) {
    if (!addListedParents(graph, into, budget)) return false;
  } else {
    const distance = (into.distance[into.at] as number) + 1;
    budget.spend(count);
    const start = inner.start(copy, PARENTS);
    for (let at = start; at < start + count; at++) {
      const parent = inner.endAt(at);
      if (!into.has(parent)) into.add(parent, into.at + 1, distance);
    }
  }
  into.at++;
  return true;
}

function addListedParents(graph: TupleGraph, into: Closure, budget: Budget): boolean {
  const node = into.nodes[into.at] as number;
  const head = graph.head(node, IN_PARENT);
  if (head === 0) return true;
  const distance = (into.distance[into.at] as number) + 1;
  if (!isOfSeveral(head)) {
    budget.spend();
    if (!into.has(numberIn(head))) into.add(numberIn(head), into.at + 1, distance);
    return true;
  }
  const newest = numberIn(head);
  let record = into.lastRecord === 0 ? newest : into.lastRecord;
  do {
    record = graph.records.nextIn(record);
    budget.spend();
    const parent = graph.records.subjectOf(record);
    if (!into.has(parent)) into.add(parent, into.at + 1, distance);
    if (record !== newest && budget.pauseIsDue()) {
      into.lastRecord = record;
      return false;
    }
  } while (record !== newest);
  into.lastRecord = 0;
  return true;
}
