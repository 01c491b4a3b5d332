/** A column of a batch as one parameter: a PostgreSQL array literal, which `unnest` turns into rows again. */

/** The type of the parameter: an array of the column's type. Arrays and JSON are sent as text and cast per row. */
export function parameterType(columnType: string): string {
  return travelsAsText(columnType) ? 'text[]' : `${columnType}[]`;
}

export const castOf = (name: string, columnType: string): string =>
  travelsAsText(columnType) ? `${name}::${columnType}` : name;

const travelsAsText = (columnType: string): boolean =>
  columnType.endsWith('[]') || isJson(columnType);

const isJson = (columnType: string): boolean => columnType === 'jsonb' || columnType === 'json';

export function arrayLiteral(columnType: string, values: readonly unknown[]): string {
  const text = isJson(columnType) ? (value: unknown) => JSON.stringify(value) : scalarText;
  let literal = '{';
  for (const [index, value] of values.entries()) {
    if (index > 0) literal += ',';
    literal += value === null || value === undefined ? 'NULL' : quoted(text(value));
  }
  return `${literal}}`;
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (Array.isArray(value)) return arrayLiteral('text', value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const SPECIAL = /["\\]/;

const quoted = (text: string): string =>
  SPECIAL.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
