/**
 * Decides whether a principal has a relation to an object by a tenant's own model: the least fixed point of its rules.
 * Mutually dependent answers are found together by Tarjan's algorithm. It has an explicit stack, since tuples nest
 * deeper than calls may.
 */
import type { Fields } from '../relations/relation.ts';
import type { Budget, Walk } from './budget.ts';
import {
  directTuple,
  type Given,
  type Goal,
  goalKey,
  goalParts,
  NOTHING,
  type Parts,
} from './goal-parts.ts';

/** Steps between two pauses. */
const SLICE_STEPS = 1_024;

/** Above this number of goals, results are not kept for the next question. */
const KEPT_GOALS_MAX = 20_000;

/** The answers for one principal. Results are kept for the next question if there is room. */
export class Goals {
  readonly #given: Given;
  readonly #budget: Budget;
  readonly #explains: boolean;
  readonly #nodes = new Map<string, GoalNode>();
  readonly #stack: GoalNode[] = [];
  /** Goals that others keep within the same budget. */
  readonly #liveBefore: number;
  #count = 0;
  #steps = 0;
  #allowed = 0;

  constructor(given: Given, budget: Budget, explains = false) {
    this.#given = given;
    this.#budget = budget;
    this.#explains = explains;
    this.#liveBefore = budget.live;
  }

  *allows(type: string, id: string, relation: string, withoutWildcard = false): Walk<boolean> {
    if (this.#budget.live - this.#liveBefore > KEPT_GOALS_MAX) this.forget();
    const root = yield* this.#node({ type, id, relation, withoutWildcard });
    if (!root.isDone) yield* this.#solve(root);
    return root.allowed;
  }

  /** Called at the end of every walk, including failed ones. */
  forget(): void {
    this.#nodes.clear();
    this.#stack.length = 0;
    this.#budget.release(this.#budget.live - this.#liveBefore);
  }

  /** The goals on which an allowed goal depends. None of them depends on the goal itself. */
  groundsOf(goal: Goal): Grounds {
    const { parts, order = 0 } = this.#nodes.get(goalKey(goal)) as GoalNode;
    const isEarlier = (other: Goal): boolean =>
      (this.#nodes.get(goalKey(other))?.order ?? Number.POSITIVE_INFINITY) < order;
    const first = (goals: readonly Goal[]) => goals.find(isEarlier);
    const base = parts.isDirect ? undefined : first(parts.base);
    const direct = parts.isDirect ? directTuple(this.#given, goal) : undefined;
    return { direct, base, beside: parts.intersect.map(first).filter(isGoal) };
  }

  *#node(goal: Goal): Walk<GoalNode> {
    const key = goalKey(goal);
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    this.#budget.spend();
    this.#budget.keep();
    const node = new GoalNode(yield* goalParts(this.#given, goal, this.#budget));
    this.#nodes.set(key, node);
    return node;
  }

  *#solve(root: GoalNode): Walk<void> {
    const path: GoalNode[] = [root];
    this.#enter(root);
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      if (++this.#steps % SLICE_STEPS === 0) yield;
      const goal = node.isKnownTrue ? undefined : node.parts.all[node.next++];
      if (goal === undefined) {
        path.pop();
        yield* this.#leave(node);
        const above = path.at(-1);
        if (above !== undefined) above.low = Math.min(above.low, node.low);
        if (above !== undefined && node.isDone) above.learn(node);
        continue;
      }
      const below = yield* this.#node(goal);
      if (below.isDone) node.learn(below);
      else if (below.index >= 0) node.low = Math.min(node.low, below.index);
      else {
        this.#enter(below);
        path.push(below);
      }
    }
  }

  #enter(node: GoalNode): void {
    node.index = this.#count;
    node.low = this.#count;
    this.#count += 1;
    this.#stack.push(node);
  }

  /** When all dependencies of a group of goals are decided, the group is evaluated as a whole. */
  *#leave(node: GoalNode): Walk<void> {
    if (node.low !== node.index) return;
    const start = this.#stack.lastIndexOf(node);
    // The last goal reached comes first, because most dependencies of a goal were reached after it.
    const group = this.#stack.splice(start).reverse();
    for (let changed = true; changed; ) {
      changed = false;
      for (const each of group) {
        if (each.allowed) continue;
        const holds = this.#holds(each);
        if (this.#budget.pauseIsDue()) yield;
        if (!holds) continue;
        each.order = ++this.#allowed;
        changed = true;
      }
    }
    for (const each of group) {
      each.isDone = true;
      // Dependencies are kept only if the answer has to be explained.
      if (!this.#explains) this.#budget.release(each.dropParts());
    }
  }

  #holds({ isKnownTrue, parts }: GoalNode): boolean {
    if (isKnownTrue) return true;
    this.#budget.spend(1 + parts.all.length);
    const isAllowed = (goal: Goal): boolean => this.#nodes.get(goalKey(goal))?.allowed === true;
    const isBase = !parts.hasBase || parts.isDirect || parts.base.some(isAllowed);
    return (
      isBase &&
      parts.intersect.every((goals) => goals.some(isAllowed)) &&
      !parts.exclude.some(isAllowed)
    );
  }
}

class GoalNode {
  parts: Parts;
  /** The goal's number in the order of the walk; -1 before the walk. */
  index = -1;
  low = -1;
  next = 0;
  /** The position in the order in which goals were found to be allowed. Undefined while it is not allowed. */
  order: number | undefined;
  isDone = false;
  #isKnownTrue: boolean;

  constructor(parts: Parts) {
    this.parts = parts;
    this.#isKnownTrue = parts.isUnion && parts.isDirect;
  }

  get allowed(): boolean {
    return this.order !== undefined;
  }

  /** No other goal can change the result. */
  get isKnownTrue(): boolean {
    return this.#isKnownTrue;
  }

  /** Returns how many goals are no longer kept. */
  dropParts(): number {
    const { all } = this.parts;
    this.parts = NOTHING;
    return all.length;
  }

  /** A union is decided by the first of its goals that is allowed. */
  learn(below: GoalNode): void {
    if (below.allowed && this.parts.isUnion) this.#isKnownTrue = true;
  }
}

/**
 * The dependencies of an allowed goal: a tuple that names the principal, or another goal; and all further conditions.
 */
export type Grounds = {
  readonly direct: Fields | undefined;
  readonly base: Goal | undefined;
  readonly beside: readonly Goal[];
};
const isGoal = (goal: Goal | undefined): goal is Goal => goal !== undefined;
