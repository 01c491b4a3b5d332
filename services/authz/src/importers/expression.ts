/**
 * A relation in the form of other languages, a tree of any depth, converted to rules. Parts that do not fit into one
 * rule become separate relations, named after it.
 */
import type { Rule, Term } from '../relations/rules.ts';

export type Expression =
  /** The subjects that tuples of the relation may name. */
  | { readonly kind: 'direct'; readonly entries: readonly string[] }
  | { readonly kind: 'term'; readonly term: Term }
  | { readonly kind: 'union' | 'intersect'; readonly of: readonly Expression[] }
  | { readonly kind: 'exclude'; readonly base: Expression; readonly minus: Expression };

/** The maximum depth of a type's tree. A deeper one is refused before it is walked. */
export const DEPTH_MAX = 64;

/** The model uses language features that Cardea's models lack. */
export class NotImportable extends Error {
  override readonly name = 'NotImportable';
}

type Building = {
  readonly name: string;
  readonly rules: { [relation: string]: Rule };
  readonly isTaken: (name: string) => boolean;
};

export function rulesOf(
  name: string,
  expression: Expression,
  isTaken: (name: string) => boolean,
): { readonly [relation: string]: Rule } {
  const building: Building = { name, rules: {}, isTaken };
  building.rules[name] = ruleFor(building, expression, { depth: 0 });
  return building.rules;
}

/** `of` names the relation with which the tuples are written, if that is not the rule's own. */
type Place = { readonly depth: number; readonly of?: string };

function ruleFor(building: Building, expression: Expression, place: Place): Rule {
  if (place.depth > DEPTH_MAX) throw new NotImportable('Nested too deeply.');
  switch (expression.kind) {
    case 'direct':
      return { direct: expression.entries, ...(place.of === undefined ? {} : { of: place.of }) };
    case 'term':
      return { union: [expression.term] };
    case 'union':
      return joined(building, expression.of, place);
    case 'intersect':
      return { intersect: expression.of.map((each) => termFor(building, each, place)) };
    case 'exclude': {
      const minus = termFor(building, expression.minus, place);
      const base = ruleFor(building, expression.base, deeper(place));
      // A rule has room for one exclusion only. The inner ones of several become separate relations.
      if (base.exclude === undefined) return { ...base, exclude: [minus] };
      return { union: [termFor(building, expression.base, place)], exclude: [minus] };
    }
  }
}

function joined(building: Building, parts: readonly Expression[], place: Place): Rule {
  const direct = parts.flatMap((part) => (part.kind === 'direct' ? part.entries : []));
  const union = parts
    .filter((part) => part.kind !== 'direct')
    .map((part) => termFor(building, part, place));
  const own = place.of === undefined ? {} : { of: place.of };
  return {
    ...(direct.length === 0 ? {} : { direct, ...own }),
    ...(union.length === 0 ? {} : { union }),
  };
}

function termFor(building: Building, expression: Expression, place: Place): Term {
  if (expression.kind === 'term') return expression.term;
  const { name, rules, isTaken } = building;
  let count = 1;
  while (isTaken(`${name}.${count}`) || Object.hasOwn(rules, `${name}.${count}`)) count++;
  const own = `${name}.${count}`;
  // Reserves the name before nested parts are converted.
  rules[own] = {};
  rules[own] = ruleFor(building, expression, { ...deeper(place), of: name });
  return own;
}

const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 });
