/**
 * Decides whether a principal has a relation to an object by a tenant's own model: the least set of answers
 * that agrees with its rules. Answers that depend on each other are found together, by Tarjan's algorithm
 * with a stack of its own, since tuples nest deeper than calls may.
 */
import type { Rule, Term, Types } from '../models/rules.ts';
import { plainTypes } from '../models/rules.ts';
import { WILDCARD } from '../tuples/relation.ts';
import type { Budget, Walk } from './closure.ts';
import { keyOf, type ModelWorld, type Subject } from './model-world.ts';

export type Rules = {
  readonly of: (type: string, relation: string) => CompiledRule | undefined;
  /** All names of relations. */
  readonly relations: ReadonlySet<string>;
};
type CompiledRule = Rule & { readonly entries: ReadonlySet<string>; readonly isUnion: boolean };

export function rulesOf(types: Types): Rules {
  const rules = new Map<string, CompiledRule>();
  const relations = new Set<string>();
  for (const [type, { relations: own = {} }] of Object.entries(types)) {
    for (const [relation, rule] of Object.entries(own)) {
      const isUnion = (rule.intersect ?? []).length + (rule.exclude ?? []).length === 0;
      rules.set(`${type}#${relation}`, { ...rule, entries: new Set(rule.direct), isUnion });
      relations.add(relation);
    }
  }
  return { of: (type, relation) => rules.get(`${type}#${relation}`), relations };
}

/** Steps between two pauses. */
const SLICE_STEPS = 1_024;

type Goal = {
  readonly type: string;
  readonly id: string;
  readonly relation: string;
  /** Tuples that name all of the principal's type do not count. */
  readonly withoutWildcard: boolean;
};
const goalKey = ({ type, id, relation, withoutWildcard }: Goal): string =>
  `${keyOf(type, id)}\u0000${relation}${withoutWildcard ? '\u0000' : ''}`;

type Groups = {
  readonly isDirect: boolean;
  readonly hasBase: boolean;
  readonly base: readonly Goal[];
  readonly intersect: readonly (readonly Goal[])[];
  readonly exclude: readonly Goal[];
};

export type Given = { readonly world: ModelWorld; readonly rules: Rules; readonly user: Subject };

/** Answers of one principal; what was found once is kept for the next question. */
export class Goals {
  readonly #given: Given;
  readonly #budget: Budget;
  readonly #nodes = new Map<string, GoalNode>();
  readonly #stack: GoalNode[] = [];
  #count = 0;
  #steps = 0;

  constructor(given: Given, budget: Budget) {
    this.#given = given;
    this.#budget = budget;
  }

  *allows(type: string, id: string, relation: string, withoutWildcard = false): Walk<boolean> {
    const root = this.#node({ type, id, relation, withoutWildcard });
    if (!root.isDone) yield* this.#solve(root);
    return root.allowed;
  }

  #node(goal: Goal): GoalNode {
    const key = goalKey(goal);
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    this.#budget.spend();
    const node = new GoalNode(goalParts(this.#given, goal, this.#budget));
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
        this.#leave(node);
        const above = path.at(-1);
        if (above !== undefined) above.low = Math.min(above.low, node.low);
        if (above !== undefined && node.isDone) above.learn(node);
        continue;
      }
      const below = this.#node(goal);
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

  /** Once everything that a group of goals depends on is done, the group is evaluated as a whole. */
  #leave(node: GoalNode): void {
    if (node.low !== node.index) return;
    const start = this.#stack.lastIndexOf(node);
    // Last met first: most of what a goal rests on was met after it.
    const group = this.#stack.splice(start).reverse();
    for (let changed = true; changed; ) {
      changed = false;
      for (const each of group) {
        if (each.allowed || !this.#holds(each)) continue;
        each.allowed = true;
        changed = true;
      }
    }
    for (const each of group) each.isDone = true;
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

type Parts = Groups & {
  readonly isUnion: boolean;
  /** All goals that this one depends on. */
  readonly all: readonly Goal[];
};

class GoalNode {
  readonly parts: Parts;
  /** In the order of the walk; -1 before it. */
  index = -1;
  low = -1;
  next = 0;
  allowed = false;
  isDone = false;
  #isKnownTrue: boolean;

  constructor(parts: Parts) {
    this.parts = parts;
    this.#isKnownTrue = parts.isUnion && parts.isDirect;
  }

  /** Nothing else can change it. */
  get isKnownTrue(): boolean {
    return this.#isKnownTrue;
  }

  /** A union is decided by the first of its goals that is allowed. */
  learn(below: GoalNode): void {
    if (below.allowed && this.parts.isUnion) this.#isKnownTrue = true;
  }
}

const NOTHING: Parts = {
  isUnion: true,
  isDirect: false,
  hasBase: true,
  base: [],
  intersect: [],
  exclude: [],
  all: [],
};

function goalParts({ world, rules, user }: Given, goal: Goal, budget: Budget): Parts {
  const { type, id, relation } = goal;
  const isItself = user.type === `${type}#${relation}` && user.id === id;
  const rule = rules.of(type, relation);
  if (isItself || rule === undefined) return { ...NOTHING, isDirect: isItself };
  const goalsOf = (term: Term, withoutWildcard: boolean): Goal[] => {
    if (typeof term === 'string') return [{ type, id, relation: term, withoutWildcard }];
    const types = plainTypes(rules.of(type, term.from));
    return [...world.subjects(type, id, term.from).plain.values()].flatMap((subject) => {
      budget.spend();
      if (subject.id === WILDCARD || !types.includes(subject.type)) return [];
      return [{ ...subject, relation: term.relation, withoutWildcard }];
    });
  };
  const { withoutWildcard } = goal;
  const below = (terms: readonly Term[] = []): Goal[] =>
    terms.flatMap((term) => goalsOf(term, withoutWildcard));
  const base = [...usersetGoals({ world, rule, goal, budget }), ...below(rule.union)];
  const intersect = (rule.intersect ?? []).map((term) => goalsOf(term, withoutWildcard));
  // Whoever is excluded as one of all is excluded, however the rest was allowed.
  const exclude = (rule.exclude ?? []).flatMap((term) => goalsOf(term, false));
  return {
    isUnion: rule.isUnion,
    isDirect: isNamed(world, rule, { goal, user }),
    hasBase: rule.entries.size > 0 || (rule.union ?? []).length > 0,
    base,
    intersect,
    exclude,
    all: [...base, ...intersect.flat(), ...exclude],
  };
}

/** A tuple names the principal, or all of its type. */
function isNamed(
  world: ModelWorld,
  { entries, of }: CompiledRule,
  { goal, user }: { readonly goal: Goal; readonly user: Subject },
): boolean {
  const { plain, usersets } = world.subjects(goal.type, goal.id, of ?? goal.relation);
  const wildcard = `${user.type}:${WILDCARD}`;
  const own = user.id === WILDCARD ? wildcard : user.type;
  const key = keyOf(user.type, user.id);
  if (entries.has(own) && (plain.has(key) || usersets.has(key)) && !isHidden(goal, user))
    return true;
  return !goal.withoutWildcard && entries.has(wildcard) && plain.has(keyOf(user.type, WILDCARD));
}

const isHidden = (goal: Goal, user: Subject): boolean =>
  goal.withoutWildcard && user.id === WILDCARD;

function usersetGoals({
  world,
  rule,
  goal,
  budget,
}: {
  readonly world: ModelWorld;
  readonly rule: CompiledRule;
  readonly goal: Goal;
  readonly budget: Budget;
}): Goal[] {
  const { type, id, relation, withoutWildcard } = goal;
  return [...world.subjects(type, id, rule.of ?? relation).usersets.values()].flatMap((userset) => {
    budget.spend();
    const isTaken = rule.entries.has(`${userset.type}#${userset.relation}`);
    return isTaken ? [{ ...userset, withoutWildcard }] : [];
  });
}
