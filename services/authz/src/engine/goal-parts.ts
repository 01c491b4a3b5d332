/**
 * The dependencies of a goal by the rules of a model: the tuples that name its principal, and other goals. A
 * goal is a relation that a principal may have to an object.
 */

import { type Fields, type Relation, WILDCARD } from '../relations/relation.ts';
import { plainTypes, type Rule, type Term, type Types } from '../relations/rules.ts';
import type { Budget, Walk } from './budget.ts';
import { keyOf, type ModelWorld, type Subject } from './model-world.ts';

export type Rules = {
  readonly of: (type: string, relation: string) => CompiledRule | undefined;
  /** All relation names of the model. */
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

export type Goal = {
  readonly type: string;
  readonly id: string;
  readonly relation: string;
  /** Whether it is allowed for a reason other than a wildcard of the principal's type. */
  readonly withoutWildcard: boolean;
  /** The tuple through which the goal above depends on it. Undefined if both are about one object. */
  readonly over?: Fields;
  /** The tuple names a userset (those who have this goal's relation), not the object. */
  readonly isUserset?: true;
};
export const goalKey = ({ type, id, relation, withoutWildcard }: Goal): string =>
  `${keyOf(type, id)}\u0000${relation}${withoutWildcard ? '\u0000' : ''}`;

type Groups = {
  readonly isDirect: boolean;
  readonly hasBase: boolean;
  readonly base: readonly Goal[];
  readonly intersect: readonly (readonly Goal[])[];
  readonly exclude: readonly Goal[];
};

export type Given = { readonly world: ModelWorld; readonly rules: Rules; readonly user: Subject };

export type Parts = Groups & {
  readonly isUnion: boolean;
  /** All goals on which this one depends. */
  readonly all: readonly Goal[];
};

/** The dependencies of a goal that has none and is denied. */
export const NOTHING: Parts = {
  isUnion: true,
  isDirect: false,
  hasBase: true,
  base: [],
  intersect: [],
  exclude: [],
  all: [],
};

export function* goalParts({ world, rules, user }: Given, goal: Goal, budget: Budget): Walk<Parts> {
  const { type, id, relation, withoutWildcard } = goal;
  const rule = rules.of(type, relation);
  const itself = isItself(user, goal);
  if (itself || rule === undefined) return { ...NOTHING, isDirect: itself };
  function* goalsOf(term: Term, withoutWildcard: boolean): Walk<Goal[]> {
    if (typeof term === 'string') {
      budget.keep();
      return [{ type, id, relation: term, withoutWildcard }];
    }
    const types = plainTypes(rules.of(type, term.from));
    const goals: Goal[] = [];
    for (const subject of world.subjects(type, id, term.from).plain.values()) {
      budget.spend();
      if (budget.pauseIsDue()) yield;
      if (subject.id === WILDCARD || !types.includes(subject.type)) continue;
      const over = tupleOf(goal, term.from, subject);
      budget.keep();
      goals.push({ ...subject, relation: term.relation, withoutWildcard, over });
    }
    return goals;
  }
  const base = yield* usersetGoals({ world, rule, goal, budget });
  for (const term of rule.union ?? []) base.push(...(yield* goalsOf(term, withoutWildcard)));
  const isDirect = isNamed(world, rule, { goal, user });
  if (withoutWildcard && !rule.isUnion) {
    // If all conditions are met, it suffices that one of them is met without the wildcard.
    for (const term of rule.intersect ?? []) base.push(...(yield* goalsOf(term, true)));
    budget.keep();
    const whole: Goal = { type, id, relation, withoutWildcard: false };
    return partsOf({ isDirect, hasBase: true, base, intersect: [[whole]], exclude: [] });
  }
  const intersect: Goal[][] = [];
  for (const term of rule.intersect ?? []) intersect.push(yield* goalsOf(term, withoutWildcard));
  const exclude: Goal[] = [];
  for (const term of rule.exclude ?? []) exclude.push(...(yield* goalsOf(term, false)));
  const hasBase = rule.entries.size > 0 || (rule.union ?? []).length > 0;
  return partsOf({ isDirect, hasBase, base, intersect, exclude });
}

const partsOf = (groups: Groups): Parts => ({
  ...groups,
  isUnion: groups.intersect.length + groups.exclude.length === 0,
  all: [...groups.base, ...groups.intersect.flat(), ...groups.exclude],
});

/** A principal of the form `group#member` is a member of that group by definition. */
const isItself = (user: Subject, { type, id, relation }: Goal): boolean =>
  user.type === `${type}#${relation}` && user.id === id;

const tupleOf = ({ type, id }: Goal, relation: string, subject: Subject): Fields => ({
  user_type: subject.type,
  user_id: subject.id,
  relation: relation as Relation,
  object_type: type,
  object_id: id,
});

/** Whether a tuple names the principal, or all of its type. */
function isNamed(
  world: ModelWorld,
  { entries, of }: CompiledRule,
  { goal, user }: { readonly goal: Goal; readonly user: Subject },
): boolean {
  const { plain, usersets } = world.subjects(goal.type, goal.id, of ?? goal.relation);
  const own = user.id === WILDCARD ? wildcardOf(user) : user.type;
  const key = keyOf(user.type, user.id);
  if (entries.has(own) && (plain.has(key) || usersets.has(key)) && !isHidden(goal, user))
    return true;
  return (
    !goal.withoutWildcard && entries.has(wildcardOf(user)) && plain.has(keyOf(user.type, WILDCARD))
  );
}

/** The tuple that allows a goal directly. Undefined if the principal has the relation by definition. */
export function directTuple({ world, rules, user }: Given, goal: Goal): Fields | undefined {
  const rule = rules.of(goal.type, goal.relation);
  if (rule === undefined || isItself(user, goal)) return undefined;
  const relation = rule.of ?? goal.relation;
  const { plain, usersets } = world.subjects(goal.type, goal.id, relation);
  const key = keyOf(user.type, user.id);
  const isOwn = (plain.has(key) || usersets.has(key)) && !isHidden(goal, user);
  if (isOwn && rule.entries.has(user.id === WILDCARD ? wildcardOf(user) : user.type)) {
    return tupleOf(goal, relation, user);
  }
  const wildcard = { type: user.type, id: WILDCARD };
  return plain.has(keyOf(user.type, WILDCARD)) ? tupleOf(goal, relation, wildcard) : undefined;
}

const wildcardOf = ({ type }: Subject): string => `${type}:${WILDCARD}`;

const isHidden = (goal: Goal, user: Subject): boolean =>
  goal.withoutWildcard && user.id === WILDCARD;

function* usersetGoals({
  world,
  rule,
  goal,
  budget,
}: {
  readonly world: ModelWorld;
  readonly rule: CompiledRule;
  readonly goal: Goal;
  readonly budget: Budget;
}): Walk<Goal[]> {
  const { type, id, withoutWildcard } = goal;
  const relation = rule.of ?? goal.relation;
  const goals: Goal[] = [];
  for (const userset of world.subjects(type, id, relation).usersets.values()) {
    budget.spend();
    if (budget.pauseIsDue()) yield;
    const subject = `${userset.type}#${userset.relation}`;
    if (!rule.entries.has(subject)) continue;
    const over = tupleOf(goal, relation, { type: subject, id: userset.id });
    budget.keep();
    goals.push({ ...userset, withoutWildcard, over, isUserset: true });
  }
  return goals;
}
