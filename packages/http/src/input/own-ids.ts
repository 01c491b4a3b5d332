/**
 * Converts ids of a request to the case in which they are stored, because .NET and SQL Server print UUIDs in capitals.
 * Ids are the fields that the contract names `id`, `*_id` or `*_ids`, unless their schema is marked as `exactText`.
 * Keys and values of free-form maps are the caller's own.
 */
import { storedId } from '@cardea/runtime';

type Schema = { readonly [keyword: string]: unknown };
/** Changes the ids in a value that has not been validated yet. */
export type ReadIds = (value: unknown) => void;
type Fields = { [name: string]: unknown };

const ID_NAME = /^(?:.*_)?ids?$/;
const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'];

/** Returns undefined for a schema without ids. */
export function readIdsOf(schema: unknown): ReadIds | undefined {
  if (!isObject(schema)) return undefined;
  const readers = [
    ...Object.entries((schema['properties'] ?? {}) as Schema).map(readField),
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
    if (isObject(value)) readInside(value[name]);
  };
}

const readId =
  (name: string): ReadIds =>
  (value) => {
    if (!isObject(value) || !Object.hasOwn(value, name)) return;
    const field = value[name];
    if (typeof field === 'string') (value as Fields)[name] = storedId(field);
    else if (Array.isArray(field)) (value as Fields)[name] = field.map(textInStoredCase);
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
  isObject(schema) &&
  (schema['exactText'] === true ||
    isExact(schema['items']) ||
    ALTERNATIVES.some((keyword) => ((schema[keyword] ?? []) as unknown[]).some(isExact)));

const isObject = (value: unknown): value is Schema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
