/**
 * Explains why a model allows something: the tuples from the principal up to the object. If several paths exist, the
 * first one found is named. Tuples of one object are tried oldest first.
 */
import type { Fields } from '../relations/relation.ts';
import type { Budget, Walk } from './budget.ts';
import { type Goal, goalKey } from './goal-parts.ts';
import type { Goals, Grounds } from './model-goals.ts';
import { impliedBy, shortened, wordFields } from './reason.ts';

/** The most paths in a reason. Each further required relation has its own path. */
const PATHS_MAX = 8;

type Path = {
  readonly tuples: readonly Fields[];
  readonly asked: string;
  readonly granted: string;
};
export type ModelReason = {
  /** Undefined if the principal has the relation by definition, as `group#member` has for its group. */
  readonly reason: string | undefined;
  readonly path: readonly Fields[];
};

/** Returns why a goal is allowed. `pathsMax` limits the paths to those that the reason prints. */
export function* reasonOf(
  goals: Goals,
  asked: Goal,
  { budget, isWhole }: { readonly budget: Budget; readonly isWhole: boolean },
): Walk<ModelReason> {
  const paths: Path[] = [];
  const seen = new Set([goalKey(asked)]);
  const open = [asked];
  const add = (goal: Goal): void => {
    if (!seen.has(goalKey(goal))) open.push(goal);
    seen.add(goalKey(goal));
  };
  for (let at = 0; at < open.length && (isWhole || at < PATHS_MAX); at++) {
    const path = yield* pathTo(goals, open[at] as Goal, { budget, beside: add });
    paths.push(path);
  }
  const words = paths.filter(({ tuples }) => tuples.length > 0).slice(0, PATHS_MAX);
  return {
    reason: words.length === 0 ? undefined : words.map(wordPath).join(' AND '),
    path: paths.flatMap(({ tuples }) => tuples),
  };
}

/** Walks from the object down to the principal. Further conditions are passed to `beside`. */
function* pathTo(
  goals: Goals,
  end: Goal,
  { budget, beside }: { readonly budget: Budget; readonly beside: (goal: Goal) => void },
): Walk<Path> {
  // A condition on another object applies to this one through the tuple between the two.
  const tuples: Fields[] = end.over === undefined ? [] : [end.over];
  let asked = end.relation;
  let granted: string | undefined;
  for (let goal: Goal | undefined = end; goal !== undefined; ) {
    budget.spend();
    if (budget.pauseIsDue()) yield;
    const grounds: Grounds = goals.groundsOf(goal);
    const isAlone = grounds.direct === undefined && grounds.base === undefined;
    // If only conditions decide, the path shows the first of them.
    const [first, ...others] = isAlone ? grounds.beside : [grounds.base, ...grounds.beside];
    if (isAlone && goal === end) asked = first?.relation ?? asked;
    const tuple: Fields | undefined = grounds.direct ?? first?.over;
    if (tuple !== undefined) tuples.push(tuple);
    if (grounds.direct !== undefined || first?.isUserset === true) granted ??= goal.relation;
    for (const other of others) if (other !== undefined) beside(other);
    goal = first;
  }
  return { tuples: tuples.reverse(), asked, granted: granted ?? asked };
}

function wordPath({ tuples, asked, granted }: Path): string {
  // `viewer.1` is a part of `viewer` that an importer had to name.
  const isPart = granted.startsWith(`${asked}.`);
  return `${shortened(tuples, wordFields)}${isPart ? '' : impliedBy(granted, asked)}`;
}
