/**
 * Validates input by its schema. Objects are closed unless their schema opens them. Only query strings and path
 * parameters are coerced. Ids are converted to the case in which they are stored. A fault names field and rule, never
 * the value.
 */
import { instantOf } from '@cardea/contracts';
import { storedId } from '@cardea/runtime';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Static, TObject, TSchema } from 'typebox';
import type { Fault } from '../refusals/refusal.ts';

/** The most bytes of UTF-8 for one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;
/** The most faults in one response. */
const FAULTS_MAX = 16;

export type Validation = { readonly value: unknown } | { readonly faults: readonly Fault[] };
export type Validator = (input: unknown) => Validation;

type Node = { [keyword: string]: unknown };

// `strict` would refuse TypeBox's own annotations. Validation stops at the first fault, because otherwise a hostile
// body of 100,000 wrong items would create 100,000 error objects. The other fields of an object are checked one by one
// afterwards, each to its first fault, so the schema limits the number of faults.
const ajv = withOurKeywords(new Ajv2020({ strict: false, allErrors: false, useDefaults: true }));

function withOurKeywords(instance: Ajv2020): Ajv2020 {
  (formats as unknown as { default: (of: Ajv2020) => void } & ((of: Ajv2020) => void))(instance);
  // Accepts exactly the times that handlers can parse.
  instance.addFormat('date-time', (text) => instantOf(text) !== null);
  // Counts UTF-8 bytes, whereas `maxLength` counts code points.
  instance.addKeyword({
    keyword: 'maxBytes',
    type: 'string',
    schemaType: 'number',
    validate: (most: number, text: string) =>
      text.length * UNIT_BYTES_MAX <= most || Buffer.byteLength(text) <= most,
    errors: false,
  });
  return instance;
}

export function bodyValidator(schema: TSchema): Validator {
  const closed = closedSchema(schema);
  const check = validating(closed);
  const readIds = readIdsOf(closed);
  if (readIds === undefined) return check;
  return (input) => {
    readIds(input);
    return check(input);
  };
}

/**
 * Validates responses of another service by their schema, and allows additional fields of a newer release.
 */
export function answerValidator<Schema extends TSchema>(
  schema: Schema,
): (input: unknown) => { readonly value: Static<Schema> } | { readonly faults: readonly Fault[] } {
  const check = validating(plainSchema(schema));
  return (input) => {
    const checked = check(input);
    return 'faults' in checked ? checked : { value: checked.value as Static<Schema> };
  };
}

/** Validates params and query. Strings are converted to numbers and booleans where the schema requires them. */
export function stringsValidator(schema: TObject): Validator {
  const closed = closedSchema(schema);
  const check = validating(closed);
  const kinds = kindsOf(closed);
  const readIds = readIdsOf(closed);
  return (input) => {
    const strings = input as { [name: string]: string };
    const values: { [name: string]: unknown } = {};
    for (const name of Object.keys(strings)) {
      const text = strings[name] as string;
      values[name] = coerced(text, Object.hasOwn(kinds, name) ? kinds[name] : undefined);
    }
    readIds?.(values);
    return check(values);
  };
}

/** Compiled on first use, because compiling all schemas of the product would slow down each start. */
function validating(schema: Node): Validator {
  let validate: ValidateFunction | undefined;
  let errorsOfFields: ((input: Node) => readonly FieldError[]) | undefined;
  return (input) => {
    validate ??= ajv.compile(schema);
    if (validate(input)) return { value: input };
    const first = validate.errors ?? [];
    errorsOfFields ??= fieldChecks(schema);
    const others = isNode(input) ? errorsOfFields(input) : [];
    return { faults: faultsOf([...first, ...others], namesIn(schema)) };
  };
}

type FieldError = Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'schemaPath'>;

/** The first fault of each field of an object, and the fields that it lacks. */
function fieldChecks(schema: Node): (input: Node) => readonly FieldError[] {
  const properties = (schema['properties'] ?? {}) as { readonly [name: string]: Node };
  const required = (schema['required'] ?? []) as readonly string[];
  const checks = new Map<string, ValidateFunction>();
  const checkOf = (name: string): ValidateFunction => {
    const known = checks.get(name);
    if (known !== undefined) return known;
    const check = ajv.compile({ $defs: schema['$defs'] ?? {}, ...properties[name] });
    checks.set(name, check);
    return check;
  };
  return (input) =>
    Object.keys(properties).flatMap((name): readonly FieldError[] => {
      if (!Object.hasOwn(input, name)) return required.includes(name) ? [missing(name)] : [];
      const check = checkOf(name);
      if (check(input[name])) return [];
      return (check.errors ?? []).map((error) => ({
        ...error,
        instancePath: `/${name}${error.instancePath}`,
      }));
    });
}

const missing = (name: string): FieldError => ({
  instancePath: '',
  schemaPath: '#/required',
  keyword: 'required',
  params: { missingProperty: name },
});

/** The schema without TypeBox's symbols and hidden properties. */
export const plainSchema = (schema: TSchema): Node => JSON.parse(JSON.stringify(schema)) as Node;

/** The schema that input is validated against. */
export const closedSchema = (schema: TSchema): Node => normal(plainSchema(schema), true);

/** The schema of a response. It is as open as declared, because a later release may add fields. */
export const answerSchema = (schema: TSchema): Node => normal(plainSchema(schema), false);

const SUBSCHEMA_MAPS = ['properties', 'patternProperties', '$defs'];
const SUBSCHEMA_LISTS = ['anyOf', 'oneOf', 'prefixItems'];

/** Turns unions of literals into enums; with `closes`, closes each object that does not say whether it is open. */
function normal(node: Node, closes: boolean): Node {
  if (Array.isArray(node['allOf'])) {
    // The parts of an intersection are closed together. Otherwise each would refuse the fields of the others.
    return closes ? { unevaluatedProperties: false, ...node } : node;
  }
  const literals = literalsOf(node);
  if (literals !== undefined) {
    const { anyOf: _, ...rest } = node;
    return { ...rest, enum: literals };
  }
  const each = (sub: unknown): unknown => (isNode(sub) ? normal(sub, closes) : sub);
  const closed: Node = { ...node };
  for (const keyword of SUBSCHEMA_MAPS) {
    if (isNode(node[keyword])) {
      closed[keyword] = Object.fromEntries(
        Object.entries(node[keyword] as Node).map(([name, sub]) => [name, each(sub)]),
      );
    }
  }
  for (const keyword of SUBSCHEMA_LISTS) {
    if (Array.isArray(node[keyword])) closed[keyword] = (node[keyword] as unknown[]).map(each);
  }
  for (const keyword of ['items', 'additionalProperties', 'not']) {
    if (isNode(node[keyword])) closed[keyword] = each(node[keyword]);
  }
  if (closes && node['type'] === 'object' && node['properties'] !== undefined) {
    closed['additionalProperties'] ??= false;
  }
  return closed;
}

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function literalsOf(node: Node): unknown[] | undefined {
  const branches = node['anyOf'];
  if (!Array.isArray(branches) || branches.length === 0) return undefined;
  return branches.every((branch) => isNode(branch) && 'const' in branch)
    ? branches.map((branch: Node) => branch['const'])
    : undefined;
}

type Kind = 'number' | 'boolean';

function kindsOf(schema: Node): { readonly [name: string]: Kind } {
  const kinds: { [name: string]: Kind } = {};
  for (const [name, sub] of Object.entries((schema['properties'] ?? {}) as { [n: string]: Node })) {
    const options = [sub, ...((sub['anyOf'] as Node[] | undefined) ?? [])];
    const types = options.map((option) => option['type']);
    if (types.includes('integer') || types.includes('number')) kinds[name] = 'number';
    else if (types.includes('boolean')) kinds[name] = 'boolean';
  }
  return kinds;
}

const PLAIN_NUMBER = /^-?[0-9]{1,15}(\.[0-9]{1,15})?$/;

function coerced(text: string, kind: Kind | undefined): unknown {
  if (kind === 'number' && PLAIN_NUMBER.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Every property name in a schema. */
function namesIn(node: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(node)) for (const item of node) namesIn(item, names);
  else if (isNode(node)) {
    if (isNode(node['properties'])) {
      for (const name of Object.keys(node['properties'])) names.add(name);
    }
    for (const sub of Object.values(node)) namesIn(sub, names);
  }
  return names;
}

const INDEX = /^[0-9]{1,6}$/;

function faultsOf(errors: readonly FieldError[], names: ReadonlySet<string>): readonly Fault[] {
  const faults = errors
    // A failed union is reported once, because the faults of its branches concern forms that were not meant.
    .filter(({ schemaPath }) => !/\/(anyOf|oneOf)\/\d+\//.test(schemaPath))
    .map((error) => ({
      field: fieldOf(error, names),
      rule: ruleOf(error),
      ...allowedBy(error),
    }));
  const told = new Set<string>();
  return faults
    .filter(({ field, rule }) => !told.has(`${field} ${rule}`) && told.add(`${field} ${rule}`))
    .slice(0, FAULTS_MAX);
}

/** The dotted path. Keys of free-form maps are input, so they appear as `*`. */
function fieldOf({ instancePath, keyword, params }: FieldError, names: ReadonlySet<string>) {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((step) => (names.has(step) || INDEX.test(step) ? step : '*'));
  if (keyword === 'required') steps.push((params as { missingProperty: string }).missingProperty);
  return steps.length === 0 ? 'body' : steps.join('.');
}

const RULES: { readonly [keyword: string]: string } = {
  additionalProperties: 'unknown_field',
  unevaluatedProperties: 'unknown_field',
  const: 'enum',
  anyOf: 'form',
  oneOf: 'form',
  not: 'form',
};

const ruleOf = ({ keyword }: FieldError): string =>
  RULES[keyword] ?? keyword.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The values of an enum and the bounds of a rule belong to the contract, so they may be shown. */
function allowedBy({ keyword, params }: FieldError): Pick<Fault, 'allowed' | 'limit'> {
  const { allowedValues, allowedValue, limit } = params as {
    readonly allowedValues?: Fault['allowed'];
    readonly allowedValue?: string;
    readonly limit?: unknown;
  };
  if (typeof limit === 'number') return { limit };
  if (keyword === 'enum' && allowedValues !== undefined) return { allowed: allowedValues };
  return keyword === 'const' && allowedValue !== undefined ? { allowed: [allowedValue] } : {};
}

/**
 * Converts ids of a request to the case in which they are stored, because .NET and SQL Server print UUIDs in capitals.
 * Ids are the fields that the contract names `id`, `*_id` or `*_ids`, unless their schema is marked as `exactText`.
 * Keys and values of free-form maps are the caller's own. The value has not been validated yet.
 */
type ReadIds = (value: unknown) => void;

const ID_NAME = /^(?:.*_)?ids?$/;
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'];

/** Returns undefined for a schema without ids. */
function readIdsOf(schema: unknown): ReadIds | undefined {
  if (!isNode(schema)) return undefined;
  const readers = [
    ...Object.entries((schema['properties'] ?? {}) as Node).map(readField),
    readItems(schema['items']),
    ...ALTERNATIVES.flatMap((keyword) => ((schema[keyword] ?? []) as unknown[]).map(readIdsOf)),
  ].filter((reader) => reader !== undefined);
  if (readers.length === 0) return undefined;
  return (value) => {
    for (const read of readers) read(value);
  };
}

function readField([name, schema]: readonly [string, unknown]): ReadIds | undefined {
  if (ID_NAME.test(name)) return isExact(schema) ? undefined : readId(name);
  const readInside = readIdsOf(schema);
  if (readInside === undefined) return undefined;
  return (value) => {
    if (isNode(value)) readInside(value[name]);
  };
}

const readId =
  (name: string): ReadIds =>
  (value) => {
    if (!isNode(value) || !Object.hasOwn(value, name)) return;
    const field = value[name];
    if (typeof field === 'string') value[name] = storedId(field);
    else if (Array.isArray(field)) value[name] = field.map(textInStoredCase);
  };

const textInStoredCase = (item: unknown): unknown =>
  typeof item === 'string' ? storedId(item) : item;

function readItems(schema: unknown): ReadIds | undefined {
  const readItem = readIdsOf(schema);
  if (readItem === undefined) return undefined;
  return (value) => {
    if (Array.isArray(value)) for (const item of value) readItem(item);
  };
}

/** Whether the schema, an alternative of it, or the items of a list are marked. */
const isExact = (schema: unknown): boolean =>
  isNode(schema) &&
  (schema['exactText'] === true ||
    isExact(schema['items']) ||
    ALTERNATIVES.some((keyword) => ((schema[keyword] ?? []) as unknown[]).some(isExact)));
