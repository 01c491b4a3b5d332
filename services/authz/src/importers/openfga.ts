/** Imports a model in OpenFGA's language, schema 1.1 or 1.2 in one file. Conditions are refused. */
import { transformer } from '@openfga/syntax-transformer';
import type { Rule, Term, Types } from '../relations/rules.ts';
import { type Expression, NotImportable, rulesOf } from './expression.ts';

const TEXT_CHARS_MAX = 256 * 1024;

type Userset = {
  readonly this?: object;
  readonly computedUserset?: { readonly relation?: string };
  readonly tupleToUserset?: {
    readonly tupleset?: { readonly relation?: string };
    readonly computedUserset?: { readonly relation?: string };
  };
  readonly union?: { readonly child: readonly Userset[] };
  readonly intersection?: { readonly child: readonly Userset[] };
  readonly difference?: { readonly base: Userset; readonly subtract: Userset };
};
type Subject = {
  readonly type: string;
  readonly relation?: string;
  readonly wildcard?: object;
  readonly condition?: string;
};
export type OpenFgaModel = {
  readonly type_definitions: readonly {
    readonly type: string;
    readonly relations?: { readonly [relation: string]: Userset };
    readonly metadata?: {
      readonly relations?: {
        readonly [relation: string]: { readonly directly_related_user_types?: readonly Subject[] };
      };
    } | null;
  }[];
  readonly conditions?: object;
};

export function typesOfOpenFga(dsl: string): Types {
  if (dsl.length > TEXT_CHARS_MAX) throw new NotImportable('The model is too long.');
  let model: OpenFgaModel;
  try {
    model = transformer.transformDSLToJSONObject(dsl) as unknown as OpenFgaModel;
  } catch {
    // The parser's own message would quote the text.
    throw new NotImportable('This is no model of OpenFGA.');
  }
  return typesOfOpenFgaJson(model);
}

/** Imports the same model in OpenFGA's own JSON. */
export function typesOfOpenFgaJson(model: OpenFgaModel): Types {
  if (Object.keys(model.conditions ?? {}).length > 0) {
    throw new NotImportable('Conditions have no counterpart.');
  }
  const types: { [type: string]: { relations: { [relation: string]: Rule } } } = {};
  for (const { type, relations = {}, metadata } of model.type_definitions) {
    const rules: { [relation: string]: Rule } = {};
    for (const [relation, userset] of Object.entries(relations)) {
      const subjects = metadata?.relations?.[relation]?.directly_related_user_types ?? [];
      const expression = expressionOf(userset, subjects.map(entryOf));
      Object.assign(
        rules,
        rulesOf(relation, expression, (name) => Object.hasOwn(relations, name)),
      );
    }
    types[type] = { relations: rules };
  }
  return types;
}

function entryOf({ type, relation, wildcard, condition }: Subject): string {
  if (condition) throw new NotImportable('Conditions have no counterpart.');
  if (wildcard !== undefined) return `${type}:*`;
  return relation ? `${type}#${relation}` : type;
}

function expressionOf(userset: Userset, entries: readonly string[]): Expression {
  const inner = (each: Userset): Expression => expressionOf(each, entries);
  const { computedUserset, tupleToUserset, union, intersection, difference } = userset;
  if (userset.this !== undefined) return { kind: 'direct', entries };
  if (computedUserset !== undefined) return term(computedUserset.relation ?? '');
  if (tupleToUserset !== undefined) {
    const from = tupleToUserset.tupleset?.relation ?? '';
    return term({ from, relation: tupleToUserset.computedUserset?.relation ?? '' });
  }
  if (union !== undefined) return { kind: 'union', of: union.child.map(inner) };
  if (intersection !== undefined) return { kind: 'intersect', of: intersection.child.map(inner) };
  if (difference !== undefined) {
    return { kind: 'exclude', base: inner(difference.base), minus: inner(difference.subtract) };
  }
  throw new NotImportable('A relation is defined in a way that is not known.');
}

const term = (of: Term): Expression => ({ kind: 'term', term: of });
