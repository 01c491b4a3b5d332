/**
 * The largest value that a schema allows. Values that only the endpoint's owner could construct are taken from the
 * sample.
 */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

type Node = { readonly [keyword: string]: unknown };

/** Used if the schema has no bound except that of the whole body. */
const UNBOUNDED_ITEMS = 100;
const UNBOUNDED_CHARS = 4_096;
/** More than the elements and keys that a body may have. */
const VALUES_MAX = 20_000;
/** Texts are numbered, so that items of lists differ and no name is taken. */
const NUMBER_CHARS = 6;
/** A character with four bytes in UTF-8, which counts once for `maxLength`. */
const WIDE = '\u{1F600}';
const FAR_AWAY = '2999-12-31T23:59:59.999Z';

/** Undefined if nothing that is generated here fits the schema, such as a name with a pattern or an address. */
export function largest(schema: TSchema, shrunk = 1): unknown {
  const check = Compile(schema);
  for (const filler of [WIDE, 'a']) {
    const value = valueFor(schema as Node, { shrunk, filler, budget: { left: VALUES_MAX } });
    if (value !== undefined && check.Check(value)) return value;
  }
  return undefined;
}

type Size = {
  readonly shrunk: number;
  readonly filler: string;
  readonly number?: number;
  /** The remaining size of the whole value. Without it, a list of lists of lists would fill the memory of the test. */
  readonly budget: { left: number };
};

function valueFor(node: Node, size: Size): unknown {
  size.budget.left -= 1;
  if (size.budget.left < 0) return undefined;
  if ('const' in node) return node['const'];
  const {
    enum: values,
    anyOf,
    type,
  } = node as {
    enum?: readonly unknown[];
    anyOf?: readonly Node[];
    type?: string;
  };
  if (values !== undefined) return values[(size.number ?? 0) % values.length];
  if (anyOf !== undefined) return ofBranches(anyOf, size);
  switch (type) {
    case 'array':
      return listOf(node, size);
    case 'object':
      return objectOf(node, size);
    case 'integer':
    case 'number':
      return node['maximum'] ?? Number.MAX_SAFE_INTEGER;
    case 'boolean':
      return true;
    case 'string':
      return textOf(node, size);
    default:
      return undefined;
  }
}

/** The largest value among the branches. */
function ofBranches(branches: readonly Node[], size: Size): unknown {
  const isConst = branches.every((branch) => 'const' in branch);
  if (isConst) return branches[(size.number ?? 0) % branches.length]?.['const'];
  return branches
    .map((branch) => valueFor(branch, size))
    .filter((value) => value !== undefined)
    .toSorted((a, b) => JSON.stringify(b).length - JSON.stringify(a).length)[0];
}

function listOf(node: Node, size: Size): unknown {
  const {
    maxItems = UNBOUNDED_ITEMS,
    minItems = 0,
    items,
  } = node as {
    maxItems?: number;
    minItems?: number;
    items?: Node;
  };
  if (items === undefined) return undefined;
  const length = Math.max(minItems, Math.ceil(maxItems / size.shrunk));
  const values = Array.from({ length }, (_, number) => valueFor(items, { ...size, number }));
  if (values.includes(undefined)) return undefined;
  const different = new Set(values.map((value) => JSON.stringify(value)));
  return [...different].map((text) => JSON.parse(text));
}

function objectOf(node: Node, size: Size): unknown {
  const {
    properties,
    required = [],
    patternProperties,
    additionalProperties,
    maxProperties,
  } = node as {
    properties?: { readonly [name: string]: Node };
    required?: readonly string[];
    patternProperties?: { readonly [pattern: string]: Node };
    additionalProperties?: unknown;
    maxProperties?: number;
  };
  const own: { [name: string]: unknown } = {};
  for (const [name, schema] of Object.entries(properties ?? {})) {
    const value = valueFor(schema, size);
    if (value !== undefined) own[name] = value;
    else if (required.includes(name)) return undefined;
  }
  const [pattern, ofPattern] = Object.entries(patternProperties ?? {})[0] ?? [];
  const schema =
    ofPattern ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
  if (schema === undefined) return own;
  const length = Math.max(1, Math.ceil((maxProperties ?? UNBOUNDED_ITEMS) / size.shrunk));
  for (let number = 0; number < length; number++) {
    const key = textOf({ pattern: pattern ?? '^[a-z]{0,40}$' }, { ...size, number });
    const value = valueFor(schema as Node, { ...size, number });
    if (key !== undefined && value !== undefined) own[String(key)] = value;
  }
  return own;
}

/** Uses only letters if there is a pattern or format. The caller checks whether they fit. */
function textOf(node: Node, { shrunk, filler }: Size): string | undefined {
  const {
    pattern,
    format,
    maxLength,
    minLength = 0,
    maxBytes,
  } = node as {
    pattern?: string;
    format?: string;
    maxLength?: number;
    minLength?: number;
    maxBytes?: number;
  };
  if (format === 'date-time') return FAR_AWAY;
  if (format !== undefined) return undefined;
  const bound = pattern === undefined ? undefined : /\{\d*,(\d+)\}/.exec(pattern)?.[1];
  const chars = maxLength ?? (bound === undefined ? UNBOUNDED_CHARS : Number(bound));
  const bytes = Math.min(
    chars,
    Math.floor((maxBytes ?? Number.MAX_SAFE_INTEGER) / Buffer.byteLength(filler)),
  );
  const length = Math.max(minLength, Math.ceil(bytes / shrunk));
  const rest = length - NUMBER_CHARS;
  if (rest < 0) return filler.repeat(length);
  texts += 1;
  return `${filler.repeat(rest)}${lettersOf(texts)}`;
}

let texts = 0;

/** Letters, which more patterns accept than digits. */
const lettersOf = (number: number): string =>
  String(number)
    .padStart(NUMBER_CHARS, '0')
    .replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] as string);
