/**
 * The rules of a tenant's own model: for each type of object, how each relation follows from tuples and from other
 * relations. They are pure data, in the form that clients send and the stream stores.
 */

/** A relation of the same object, or of the objects that `from` leads to. */
export type Term = string | { readonly from: string; readonly relation: string };

/**
 * A subject is allowed if a tuple names it or a term of `union` allows it, every term of `intersect` allows it too, and
 * no term of `exclude` does. Without `direct` and `union` the terms of `intersect` decide alone.
 */
export type Rule = {
  /** Subjects that tuples may name: `user`, `user:*` (all of the type), `group#member` (all who have the relation). */
  readonly direct?: readonly string[];
  /** The relation of the same object with which those tuples are written, if it is not the rule's own. */
  readonly of?: string;
  readonly union?: readonly Term[];
  readonly intersect?: readonly Term[];
  readonly exclude?: readonly Term[];
};

export type Types = {
  readonly [type: string]: { readonly relations?: { readonly [relation: string]: Rule } };
};

export type ModelFault = { readonly field: string; readonly rule: string };

export const TYPES_MAX = 200;
export const RELATIONS_MAX = 500;
export const TERMS_MAX = 200;
const NAME_BYTES_MAX = 254;
/** The most faults that one response names. */
const FAULTS_MAX = 20;
/** A name without the characters that separate parts of a subject, so that it can be parsed. */
const NAME = /^[^\s:#@*\p{Cc}]+$/u;

const ruleOf = (types: Types, type: string, relation: string): Rule | undefined =>
  relationsOf(types, type)?.[relation];

function relationsOf(
  types: Types,
  type: string,
): { readonly [relation: string]: Rule } | undefined {
  if (!Object.hasOwn(types, type)) return undefined;
  return Object.assign(Object.create(null), types[type]?.relations);
}

/** Splits `group#member` into its parts. A subject without `#` has no relation. */
export function partsOf(subject: string): { readonly type: string; readonly relation?: string } {
  const [type = '', relation] = subject.split('#');
  return relation === undefined ? { type } : { type, relation };
}

/** The plain types that a tuple of the relation may name; `from` follows these. */
export const plainTypes = (rule: Rule | undefined): readonly string[] =>
  (rule?.direct ?? []).filter((entry) => !/[:#]/.test(entry));

/** Returns why the model is invalid; empty for a valid model. */
export function faultsOfModel(types: Types): readonly ModelFault[] {
  const faults = [...shapeFaults(types)];
  return (faults.length > 0 ? faults : exclusionFaults(types)).slice(0, FAULTS_MAX);
}

function* shapeFaults(types: Types): Generator<ModelFault> {
  const names = Object.keys(types);
  if (names.length > TYPES_MAX) return yield { field: 'types', rule: 'max_items' };
  let count = 0;
  for (const type of names) {
    if (!isName(type)) yield { field: 'types', rule: 'name' };
    for (const [relation, rule] of Object.entries(types[type]?.relations ?? {})) {
      if (++count > RELATIONS_MAX) return yield { field: 'types', rule: 'max_relations' };
      const field = `types.${at(type)}.relations.${at(relation)}`;
      if (!isName(relation)) yield { field, rule: 'name' };
      else yield* ruleFaults(types, { type, rule, field });
    }
  }
}

const isName = (name: string): boolean =>
  NAME.test(name) && Buffer.byteLength(name) <= NAME_BYTES_MAX;
/** A message only quotes names that are safe to print. */
const at = (name: string): string => (isName(name) ? name : '?');

type Place = { readonly type: string; readonly rule: Rule; readonly field: string };

function* ruleFaults(types: Types, place: Place): Generator<ModelFault> {
  const { rule, field, type } = place;
  const { direct = [], union = [], intersect = [], exclude = [] } = rule;
  if (rule.of !== undefined && ruleOf(types, type, rule.of) === undefined) {
    yield { field: `${field}.of`, rule: 'unknown' };
  }
  if (direct.length + union.length + intersect.length === 0) yield { field, rule: 'empty' };
  for (const [index, entry] of direct.entries()) {
    if (!isSubject(types, entry)) yield { field: `${field}.direct.${index}`, rule: 'unknown' };
  }
  for (const [list, terms] of Object.entries({ union, intersect, exclude })) {
    for (const [index, term] of terms.entries()) {
      const fault = termFault(types, type, term);
      if (fault !== undefined) yield { field: `${field}.${list}.${index}`, rule: fault };
    }
  }
}

function isSubject(types: Types, entry: string): boolean {
  const isWildcard = entry.endsWith(':*');
  const { type, relation } = partsOf(isWildcard ? entry.slice(0, -2) : entry);
  if (!Object.hasOwn(types, type) || (isWildcard && relation !== undefined)) return false;
  return relation === undefined || ruleOf(types, type, relation) !== undefined;
}

function termFault(types: Types, type: string, term: Term): string | undefined {
  if (typeof term === 'string') return ruleOf(types, type, term) ? undefined : 'unknown';
  const from = ruleOf(types, type, term.from);
  if (from === undefined) return 'unknown';
  const { direct = [], union = [], intersect = [], exclude = [] } = from;
  // The relation in `from` must consist of tuples only and need no evaluation.
  const isPlain = union.length + intersect.length + exclude.length === 0 && from.of === undefined;
  if (!isPlain || plainTypes(from).length < direct.length) return 'not_direct';
  const isKnown = plainTypes(from).some((each) => ruleOf(types, each, term.relation));
  return isKnown ? undefined : 'unknown';
}

type Edge = { readonly to: string; readonly excludes: boolean };

/** A relation that reached itself through an exclusion would be allowed if and only if it were not. */
function exclusionFaults(types: Types): readonly ModelFault[] {
  const edges = new Map<string, Edge[]>();
  for (const [type, { relations = {} }] of Object.entries(types)) {
    for (const [relation, rule] of Object.entries(relations)) {
      edges.set(`${type}#${relation}`, [...edgesOf(types, type, rule)]);
    }
  }
  const reached = new Map<string, ReadonlySet<string>>();
  const reaches = (from: string, to: string): boolean => {
    const known = reached.get(from) ?? reachedFrom(edges, from);
    reached.set(from, known);
    return known.has(to);
  };
  return [...edges].flatMap(([from, out]) =>
    out.some(({ to, excludes }) => excludes && reaches(to, from))
      ? [{ field: `types.${from.replace('#', '.relations.')}.exclude`, rule: 'reaches_itself' }]
      : [],
  );
}

function* edgesOf(types: Types, type: string, rule: Rule): Generator<Edge> {
  for (const entry of rule.direct ?? []) {
    if (entry.includes('#')) yield { to: entry, excludes: false };
  }
  const terms = [...(rule.union ?? []), ...(rule.intersect ?? [])];
  for (const term of terms) yield* targetsOf(types, type, { term, excludes: false });
  for (const term of rule.exclude ?? []) yield* targetsOf(types, type, { term, excludes: true });
}

function* targetsOf(
  types: Types,
  type: string,
  { term, excludes }: { readonly term: Term; readonly excludes: boolean },
): Generator<Edge> {
  if (typeof term === 'string') return yield { to: `${type}#${term}`, excludes };
  for (const each of plainTypes(ruleOf(types, type, term.from))) {
    yield { to: `${each}#${term.relation}`, excludes };
  }
}

function reachedFrom(
  edges: ReadonlyMap<string, readonly Edge[]>,
  from: string,
): ReadonlySet<string> {
  const seen = new Set([from]);
  // The iteration includes elements that are added during the loop.
  for (const each of seen) for (const { to } of edges.get(each) ?? []) seen.add(to);
  return seen;
}
