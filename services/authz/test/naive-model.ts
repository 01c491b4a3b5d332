/**
 * The semantics of a model (`docs/design/authz.md`, A tenant's own model) as plain loops over all objects and
 * relations. It ignores speed. Only tests use it, to compare the evaluator's answers.
 */
import type { Rule, Term, Types } from '../src/relations/rules.ts';

export type ModelTuple = {
  readonly user_type: string;
  readonly user_id: string;
  readonly relation: string;
  readonly object_type: string;
  readonly object_id: string;
};
type Goal = { readonly type: string; readonly id: string; readonly relation: string };

const same = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Everything that the principal is allowed, computed stratum by stratum, each until nothing is added. */
export function naiveAnswers(
  types: Types,
  tuples: readonly ModelTuple[],
  user: { readonly type: string; readonly id: string },
): (goal: Goal) => boolean {
  const ids = [...new Set(tuples.flatMap(({ object_id, user_id }) => [object_id, user_id]))];
  const goals = Object.entries(types).flatMap(([type, { relations = {} }]) =>
    Object.keys(relations).flatMap((relation) =>
      [...ids, user.id].map((id): Goal => ({ type, id, relation })),
    ),
  );
  const allowed: Goal[] = [];
  const has = (goal: Goal): boolean => allowed.some((each) => same(each, goal));
  const strata = strataOf(types);
  for (let stratum = 0; stratum <= Math.max(...strata.values(), 0); stratum++) {
    const mine = goals.filter(
      ({ type, relation }) => strata.get(`${type}#${relation}`) === stratum,
    );
    for (let before = -1; before < allowed.length; ) {
      before = allowed.length;
      allowed.push(...mine.filter((goal) => !has(goal) && holds(goal)));
    }
  }
  return ({ type, id, relation }) =>
    has({ type, id, relation }) || (user.type === `${type}#${relation}` && user.id === id);

  function holds(goal: Goal): boolean {
    if (user.type === `${goal.type}#${goal.relation}` && user.id === goal.id) return true;
    const rule = types[goal.type]?.relations?.[goal.relation] as Rule;
    const { direct = [], union = [], intersect = [], exclude = [] } = rule;
    const isBase =
      direct.length + union.length === 0 ||
      isNamed(goal, rule) ||
      union.some((term) => follows(goal, term));
    return (
      isBase &&
      intersect.every((term) => follows(goal, term)) &&
      !exclude.some((term) => follows(goal, term))
    );
  }

  function isNamed(goal: Goal, { direct = [], of }: Rule): boolean {
    return about(goal, of ?? goal.relation).some(({ user_type, user_id }) => {
      const [type = '', relation] = user_type.split('#');
      const entry = user_id === '*' ? `${type}:*` : user_type;
      if (!direct.includes(entry)) return false;
      if (relation !== undefined && has({ type, id: user_id, relation })) return true;
      if (relation !== undefined) return user.type === user_type && user.id === user_id;
      return user.type === type && (user.id === user_id || user_id === '*');
    });
  }

  function follows(goal: Goal, term: Term): boolean {
    if (typeof term === 'string') return allows({ ...goal, relation: term });
    const plain = types[goal.type]?.relations?.[term.from]?.direct ?? [];
    return about(goal, term.from).some(
      ({ user_type, user_id }) =>
        user_id !== '*' &&
        plain.includes(user_type) &&
        allows({ type: user_type, id: user_id, relation: term.relation }),
    );
  }

  function allows({ type, id, relation }: Goal): boolean {
    return has({ type, id, relation }) || (user.type === `${type}#${relation}` && user.id === id);
  }

  function about(goal: Goal, relation: string): readonly ModelTuple[] {
    return tuples.filter(
      (tuple) =>
        tuple.object_type === goal.type &&
        tuple.object_id === goal.id &&
        tuple.relation === relation,
    );
  }
}

/**
 * The stratum of each relation, which is above all relations that it excludes. It terminates because no relation
 * reaches itself through an exclusion.
 */
function strataOf(types: Types): Map<string, number> {
  const strata = new Map<string, number>();
  for (const [type, { relations = {} }] of Object.entries(types)) {
    for (const relation of Object.keys(relations)) strata.set(`${type}#${relation}`, 0);
  }
  for (let changed = true; changed; ) {
    changed = false;
    for (const name of strata.keys()) {
      const [type = '', relation = ''] = name.split('#');
      const rule = types[type]?.relations?.[relation] as Rule;
      const least = Math.max(
        0,
        ...targets(type, rule).map(([to, step]) => (strata.get(to) ?? 0) + step),
      );
      if (least <= (strata.get(name) ?? 0)) continue;
      strata.set(name, least);
      changed = true;
    }
  }
  return strata;

  function targets(type: string, rule: Rule): (readonly [string, number])[] {
    const of = (step: number) => (term: Term) => {
      if (typeof term === 'string') return [[`${type}#${term}`, step] as const];
      const plain = types[type]?.relations?.[term.from]?.direct ?? [];
      return plain.map((each) => [`${each}#${term.relation}`, step] as const);
    };
    const usersets = (rule.direct ?? []).filter((entry) => entry.includes('#'));
    return [
      ...usersets.map((entry) => [entry, 0] as const),
      ...[...(rule.union ?? []), ...(rule.intersect ?? [])].flatMap(of(0)),
      ...(rule.exclude ?? []).flatMap(of(1)),
    ];
  }
}
