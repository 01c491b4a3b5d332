/** The parts of the OpenAPI document whose change could break a client. */

/** The part of JSON Schema that the document uses. */
export type Schema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly patternProperties?: { readonly [pattern: string]: Schema };
  readonly required?: readonly string[];
  readonly items?: Schema;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
};
type Content = { readonly [mediaType: string]: { readonly schema?: Schema } };
type ListedEndpoints = {
  readonly 'x-callers'?: string | readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: { readonly [status: string]: { readonly content?: Content } };
};
export type Document = {
  readonly paths: { readonly [path: string]: { readonly [method: string]: object } };
  readonly components: object;
};

export type Field = {
  /** The field's types, or its values if they are enumerated. */
  readonly is: readonly string[];
  /** True if clients have to send the field of an input, or if the field of an answer is always present. */
  readonly required?: true;
};
/** Fields by location: `query limit`, `body /name`, `/users/-/id`. */
export type Fields = { readonly [at: string]: Field };
export type Operation = {
  readonly callers: readonly string[];
  readonly inputs: Fields;
  readonly answers: {
    readonly [status: string]: { readonly fields: Fields } | { readonly codes: readonly string[] };
  };
};
/** Operations by method and path. */
export type Promised = { readonly [operation: string]: Operation };

const REFUSED_STATUS = 400;
const JSON_TYPE = 'application/json';

export const promisedBy = (document: Document): Promised =>
  Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => {
        const described = resolved(operation, document) as ListedEndpoints;
        return [
          `${method.toUpperCase()} ${path}`,
          {
            callers: [described['x-callers'] ?? 'anyone'].flat().toSorted(),
            inputs: inputsOf(described),
            answers: answersOf(described),
          },
        ];
      }),
    ),
  );

/** Replaces references by what they refer to; no type of the document contains itself. */
function resolved(node: unknown, document: Document): unknown {
  if (Array.isArray(node)) return node.map((one) => resolved(one, document));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node && typeof node.$ref === 'string') {
    return resolved(pointed(node.$ref, document), document);
  }
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, resolved(value, document)]),
  );
}

function pointed(reference: string, document: Document): unknown {
  const found = reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((at, step) => (at as { [step: string]: unknown })?.[step], document);
  if (found === undefined) throw new Error(`${reference} points to nothing`);
  return found;
}

const inputsOf = ({ parameters = [], requestBody }: ListedEndpoints): Fields =>
  Object.fromEntries([
    ...parameters.flatMap((one) =>
      fields(one.schema, `${one.in} ${one.name}`, one.required === true),
    ),
    ...Object.values(requestBody?.content ?? {}).flatMap(({ schema = {} }) =>
      fields(schema, 'body ', requestBody?.required === true),
    ),
  ]);

const answersOf = ({ responses }: ListedEndpoints): Operation['answers'] =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { content = {} }]) => {
      // There may be a page besides JSON. Only clients that request the page get it.
      const shown = JSON_TYPE in content ? [content[JSON_TYPE]] : Object.values(content);
      const all = shown.flatMap((one) => fields(one?.schema ?? {}, '', true));
      return [
        status,
        Number(status) >= REFUSED_STATUS ? { codes: codesOf(all) } : { fields: sorted(all) },
      ];
    }),
  );

/** Under `/oauth2` the code is the field `error` itself. */
const codesOf = (all: readonly [string, Field][]): readonly string[] =>
  all
    .filter(([at]) => at === '/error/code' || at === '/error')
    .flatMap(([, { is }]) => is)
    .filter(isValue)
    .map((value) => JSON.parse(value) as string)
    .toSorted();

const sorted = (all: readonly [string, Field][]): Fields =>
  Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Values are in quotes, types are not. */
export const isValue = (one: string): boolean => one.startsWith('"');

function fields(schema: Schema, at: string, required: boolean): [string, Field][] {
  const objects = (schema.anyOf ?? [schema]).filter(({ properties }) => properties !== undefined);
  const names = new Set(objects.flatMap(({ properties = {} }) => Object.keys(properties)));
  const field: Field = { is: alternatives(schema), ...(required ? { required } : {}) };
  return [
    [at, field],
    ...[...names].flatMap((name) => {
      const everywhere = objects.every((one) => one.required?.includes(name) === true);
      const schemas = objects.flatMap(({ properties = {} }) => properties[name] ?? []);
      const [only = {}, ...more] = schemas;
      return fields(more.length === 0 ? only : { anyOf: schemas }, `${at}/${name}`, everywhere);
    }),
    ...Object.values(schema.patternProperties ?? {}).flatMap((one) => fields(one, `${at}/*`, true)),
    ...(schema.items === undefined ? [] : fields(schema.items, `${at}/-`, true)),
  ];
}

function alternatives({ anyOf, enum: values, const: only, type = 'anything' }: Schema): string[] {
  const all =
    anyOf?.flatMap(alternatives) ??
    (only === undefined ? values : [only])?.map((value) =>
      typeof value === 'string' ? JSON.stringify(value) : `"${String(value)}"`,
    ) ??
    [type].flat();
  return [...new Set(all)].toSorted();
}
