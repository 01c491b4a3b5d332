/**
 * The schema for subscribers: open, because a later release may add fields; null and alternatives are
 * merged into `type` and `enum`; our annotations are kept.
 */
import { type Json, PERSONAL_DATA } from '@cardea/contracts';

/** The part of JSON Schema that our declarations use. */
export type Schema = {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly Json[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly examples?: readonly Json[];
  readonly [PERSONAL_DATA]?: string;
  readonly $ref?: string;
};
type Declared = Schema & {
  readonly anyOf?: readonly Declared[];
  readonly const?: Json;
  readonly additionalProperties?: unknown;
};

export function publishedSchema(declared: object): Schema {
  const { anyOf, const: only, additionalProperties: _, ...rest } = declared as Declared;
  if (anyOf !== undefined) return ordered({ ...folded(anyOf), ...rest });
  const values = only === undefined ? rest.enum : [only];
  return ordered({
    ...rest,
    ...(values === undefined ? {} : { type: typeof values[0], enum: values }),
    ...(rest.items === undefined ? {} : { items: publishedSchema(rest.items) }),
    ...(rest.properties === undefined ? {} : { properties: eachOf(rest.properties) }),
  });
}

export const isNullable = ({ type }: Schema): boolean =>
  type !== undefined && typesOf(type).includes('null');

export const typesOf = (type: NonNullable<Schema['type']>): readonly string[] =>
  typeof type === 'string' ? [type] : type;

/** Data that fits the schema, built from the examples of its fields. Throws if a string has no example. */
export function exampleOf(schema: Schema, at = ''): Json {
  const [example = schema.enum?.[0]] = schema.examples ?? [];
  if (example !== undefined) return example;
  const [type = ''] = typesOf(schema.type ?? '');
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, of]) => [
          name,
          exampleOf(of, `${at}/${name}`),
        ]),
      );
    case 'array':
      return [exampleOf(schema.items ?? {}, `${at}/-`)];
    case 'integer':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      throw new Error(`${at} shows no example`);
  }
}

/** The same schema without the examples of its fields. */
export const withoutExamples = (schema: Schema): Schema => without(['examples'], schema);

/** The constraints of the schema, without its annotations. */
export const bareSchema = (schema: Schema): Schema =>
  without(['examples', 'description', PERSONAL_DATA], schema);

function without(keywords: readonly string[], schema: Schema): Schema {
  const kept: Schema = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)),
  );
  const inner = (one: Schema) => without(keywords, one);
  return {
    ...kept,
    ...(kept.items === undefined ? {} : { items: inner(kept.items) }),
    ...(kept.properties === undefined ? {} : { properties: mapped(kept.properties, inner) }),
  };
}

const eachOf = (properties: { readonly [name: string]: Schema }) =>
  mapped(properties, publishedSchema);

const mapped = (
  properties: { readonly [name: string]: Schema },
  by: (schema: Schema) => Schema,
): { readonly [name: string]: Schema } =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, by(schema)]));

/** `X or null`, the only union that our declarations use. */
function folded(alternatives: readonly Declared[]): Schema {
  const [first, second, ...more] = alternatives;
  if (first === undefined || second?.type !== 'null' || more.length > 0) {
    throw new Error('only `X or null` can be told to subscribers');
  }
  const schema = publishedSchema(first);
  return {
    ...schema,
    type: [...typesOf(schema.type ?? ''), 'null'],
    ...(schema.enum === undefined ? {} : { enum: [...schema.enum, null] }),
  };
}

const ORDER = ['type', 'description', PERSONAL_DATA];

const ordered = (schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).toSorted(([a], [b]) => rank(a) - rank(b)));

const rank = (keyword: string): number => {
  const place = ORDER.indexOf(keyword);
  return place === -1 ? ORDER.length : place;
};
