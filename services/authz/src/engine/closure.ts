import { grown } from './nodes.ts';
import { IN_PARENT, OUT_MEMBER, type TupleGraph } from './tuple-graph.ts';

/** Tuple records that a check or a filter may look at. */
export const RECORDS_MAX = 1_000_000;
/** Tuple records that a list of objects may look at. */
export const LIST_RECORDS_MAX = 10_000_000;

/** The question was too large to be answered; the caller answers 503 `evaluation_budget_exceeded`. */
export class EvaluationBudgetExceeded extends Error {
  override readonly name = 'EvaluationBudgetExceeded';
}

/** Counts the tuple records looked at for one request. */
export class Budget {
  #left: number;

  constructor(records: number) {
    this.#left = records;
  }

  spend(records = 1): void {
    this.#left -= records;
    if (this.#left < 0) throw new EvaluationBudgetExceeded();
  }
}

const FIRST_SIZE = 64;
const STAMP_MAX = 0xffffffff;

/**
 * A set of nodes in the order in which a breadth-first walk reached them, with the path to each. A node's
 * mark is `base + slot`; raising the base invalidates all marks at once, so nothing is cleared between
 * runs.
 */
export class Closure {
  count = 0;
  nodes = new Uint32Array(FIRST_SIZE);
  /** Slot that the walk came from, plus one; 0 for the start. */
  from = new Uint32Array(FIRST_SIZE);
  /** Record that led to the node; 0 if none did. */
  over = new Uint32Array(FIRST_SIZE);
  /** Tuples between the start and the node. */
  distance = new Uint32Array(FIRST_SIZE);
  #marks = new Uint32Array(FIRST_SIZE);
  #base = 1;

  begin(nodes: number): void {
    this.#base += this.count;
    this.count = 0;
    if (nodes > this.#marks.length) this.#marks = grown(this.#marks, nodes);
    if (this.#base + nodes > STAMP_MAX) {
      this.#marks.fill(0);
      this.#base = 1;
    }
  }

  /** The node's slot, -1 if it is not in the set. */
  slotOf(node: number): number {
    return (this.#marks[node] as number) - this.#base;
  }

  has(node: number): boolean {
    return (this.#marks[node] as number) >= this.#base;
  }

  add(node: number, from: number, over: number, distance: number): void {
    const slot = this.count++;
    if (slot >= this.nodes.length) {
      this.nodes = grown(this.nodes, this.count);
      this.from = grown(this.from, this.count);
      this.over = grown(this.over, this.count);
      this.distance = grown(this.distance, this.count);
    }
    this.nodes[slot] = node;
    this.from[slot] = from;
    this.over[slot] = over;
    this.distance[slot] = distance;
    this.#marks[node] = this.#base + slot;
  }
}

/** All walks of one thread share these; a walk that pauses has its own. */
export type Scratch = {
  readonly principals: Closure;
  readonly ancestors: Closure;
  /** Nodes known to lead to no grant, for the rest of a request. */
  readonly fruitless: Closure;
};

export const newScratch = (): Scratch => ({
  principals: new Closure(),
  ancestors: new Closure(),
  fruitless: new Closure(),
});

/**
 * P(s): the principal, every group that it is in at any depth, and the wildcard of each type among them,
 * which follows directly after the first node of its type, at the same distance.
 */
export function closePrincipals(
  graph: TupleGraph,
  subject: { readonly user_type: string; readonly user_id: string },
  into: Closure,
  budget: Budget,
): void {
  const { nodes } = graph;
  into.begin(nodes.size);
  const start = nodes.find(subject.user_type, subject.user_id);
  if (start !== 0) into.add(start, 0, 0, 0);
  const wild = nodes.wildcardOf(subject.user_type);
  if (wild !== 0 && wild !== start) into.add(wild, start === 0 ? 0 : 1, 0, 0);

  for (let slot = 0; slot < into.count; slot++) {
    const newest = graph.newest(into.nodes[slot] as number, OUT_MEMBER);
    if (newest === 0) continue;
    const distance = (into.distance[slot] as number) + 1;
    let record = newest;
    do {
      record = graph.out.next[record] as number;
      budget.spend();
      enter(graph, into, { node: graph.objects[record] as number, slot, record, distance });
    } while (record !== newest);
  }
}

function enter(
  graph: TupleGraph,
  into: Closure,
  step: { node: number; slot: number; record: number; distance: number },
): void {
  if (into.has(step.node)) return;
  into.add(step.node, step.slot + 1, step.record, step.distance);
  const wild = graph.nodes.wildcardBeside(step.node);
  if (wild !== 0 && !into.has(wild)) into.add(wild, into.count, 0, step.distance);
}

/** Adds the parents of the node at a slot to A(o), the oldest first. */
export function addParents(graph: TupleGraph, into: Closure, slot: number, budget: Budget): void {
  const newest = graph.newest(into.nodes[slot] as number, IN_PARENT);
  if (newest === 0) return;
  const distance = (into.distance[slot] as number) + 1;
  let record = newest;
  do {
    record = graph.into.next[record] as number;
    budget.spend();
    const parent = graph.subjects[record] as number;
    if (!into.has(parent)) into.add(parent, slot + 1, record, distance);
  } while (record !== newest);
}
