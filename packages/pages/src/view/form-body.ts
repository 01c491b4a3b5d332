/** Converts the typed values of a form to the body of its endpoint. */
import type { Endpoint } from '@cardea/http';
import type { FormField, Strings } from './page-types.ts';

export type Typed = Strings;
type Field = Pick<FormField<string>, 'name' | 'kind'>;

export type Property = {
  readonly type?: unknown;
  readonly anyOf?: readonly Property[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly maxLength?: number;
  readonly properties?: { readonly [name: string]: Property };
  readonly required?: readonly string[];
};

/** The schema of a field, without null. */
export function propertyOf(
  { contract }: Pick<Endpoint, 'contract'>,
  name: string,
): { readonly property: Property; readonly isNullable: boolean; readonly isRequired: boolean } {
  let of = (contract.body ?? {}) as Property;
  let isRequired = true;
  let isNullable = false;
  for (const step of name.split('.')) {
    isRequired &&= of.required?.includes(step) === true;
    const found = of.properties?.[step] ?? {};
    const others = (found.anyOf ?? []).filter(({ type }) => type !== 'null');
    isNullable = found.anyOf !== undefined && others.length < found.anyOf.length;
    of = isNullable && others.length === 1 && others[0] !== undefined ? others[0] : found;
  }
  return { property: of, isNullable, isRequired };
}

/** The values of a schema that is an enumeration. */
export const choicesOf = (property: Property): readonly string[] =>
  (property.enum ?? (property.anyOf ?? []).map((each) => each.const)).flatMap((value) =>
    typeof value === 'string' ? [value] : [],
  );

const MINUTES_CHARS = '2026-12-24T18:00'.length;

/** A value in the form in which a field of this kind shows it. A time is shown to the minute. */
export function textOfValue(value: unknown, kind?: Field['kind']): string {
  if (value === null || value === undefined || value === false) return '';
  if (kind === 'time') return String(value).slice(0, MINUTES_CHARS);
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * An empty field is missing, or null if a change clears it. Numbers are parsed, and invalid ones are left for the
 * endpoint to refuse.
 */
export function formBody(
  endpoint: Pick<Endpoint, 'contract'>,
  fields: readonly Field[],
  typed: Typed,
): { readonly [name: string]: unknown } {
  const body: { [name: string]: unknown } = {};
  for (const field of fields) {
    const { property, isNullable, isRequired } = propertyOf(endpoint, field.name);
    const text = typed[field.name] ?? '';
    const value = isSecret(field) ? text : text.trim();
    if (value !== '' || property.type === 'boolean')
      put(body, field.name, field.kind === 'time' ? utcOf(value) : readValue(value, property));
    else if (isNullable && (isRequired || endpoint.contract.method === 'patch')) {
      put(body, field.name, null);
    }
  }
  return body;
}

const SECRETS: readonly Field['kind'][] = ['password', 'new_password', 'secret', 'code', 'digits'];
export const isSecret = ({ kind }: Field): boolean => SECRETS.includes(kind);

/** A field with a name like `a.b` is a member of an object in the body. */
function put(body: { [name: string]: unknown }, name: string, value: unknown): void {
  const steps = name.split('.');
  const last = steps.pop() ?? '';
  let at = body;
  for (const step of steps) {
    at[step] ??= {};
    at = at[step] as { [name: string]: unknown };
  }
  at[last] = value;
}

function readValue(text: string, property: Property): unknown {
  switch (property.type) {
    case 'integer':
    case 'number':
      return Number.isNaN(Number(text)) ? text : Number(text);
    case 'boolean':
      return text === 'true' ? true : text === '' || text === 'false' ? false : text;
    case 'array':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
    case 'object':
      return jsonOr(text);
    default:
      return text;
  }
}

const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}[\d:.]*$/;

/** Browsers send the chosen time without its zone, which is UTC. */
function utcOf(text: string): string {
  const time = new Date(`${text}Z`);
  return WITHOUT_ZONE.test(text) && !Number.isNaN(time.getTime()) ? time.toISOString() : text;
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
