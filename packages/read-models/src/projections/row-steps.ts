/**
 * The statements that write rows of one table. Each statement makes one kind of change, over arrays with an element per
 * row.
 */
import { hash } from 'node:crypto';
import type { Change, Table, Upsert } from './table.ts';

export type RowChange = Change<Record<string, unknown>, Record<string, unknown>>;

export type Step = {
  readonly kind: RowChange['kind'] | 'upsert';
  /** Two steps of one kind and shape have the same text. */
  readonly shape: string;
  readonly literals: readonly string[];
  /** Requests a placeholder for each literal, in order. */
  readonly text: (placeholder: () => string) => string;
};

export type StepTarget = {
  /** The table's name with its schema. */
  readonly name: string;
  readonly table: Table;
  /** An SQL condition. Nothing is written where it is false. */
  readonly condition?: string;
};

export type Put = Extract<RowChange, { kind: 'put' }>;
export type Patch = Extract<RowChange, { kind: 'patch' }>;
export type Remove = Extract<RowChange, { kind: 'remove' }>;
export type Add = Extract<RowChange, { kind: 'add' }>;

/** The columns that a patch changes, in one order for all patches. */
export function patchedColumns({ columns }: Patch): readonly string[] {
  const patched: string[] = [];
  for (const column of Object.keys(columns))
    if (columns[column] !== undefined) patched.push(column);
  return patched.sort();
}

export function putStep(target: StepTarget, puts: readonly Put[]): Step {
  const { name, table } = target;
  const columns = Object.keys(table.columns);
  const rows = puts.map((put) => put.row);
  const text: Step['text'] = (placeholder) => {
    const rest = columns.filter((column) => !table.key.includes(column));
    const update = rest.map((column) => `${id(column)} = excluded.${id(column)}`).join(', ');
    return `INSERT INTO ${name} (${columns.map(id).join(', ')})
    SELECT ${casts(table, columns)} FROM ${unnest(table, columns, placeholder)}${whereOf(target)}
    ON CONFLICT (${table.key.map(id).join(', ')}) DO ${update === '' ? 'NOTHING' : `UPDATE SET ${update}`}`;
  };
  return { kind: 'put', shape: name, literals: literalsOf(table, columns, rows), text };
}

/** Works like `putStep`, but in an existing row it does not change the columns that an event omits. */
export function upsertStep(
  target: StepTarget,
  { keep, upserts }: { readonly keep: readonly string[]; readonly upserts: readonly Upsert[] },
): Step {
  const { name, table } = target;
  const columns = Object.keys(table.columns);
  const text: Step['text'] = (placeholder) => {
    const update = columns
      .filter((column) => !table.key.includes(column) && !keep.includes(column))
      .map((column) => `${id(column)} = ${givenOrKept(table, column)}`)
      .join(', ');
    return `INSERT INTO ${name} AS t (${columns.map(id).join(', ')})
    SELECT ${casts(table, columns)} FROM ${unnest(table, columns, placeholder)}${whereOf(target)}
    ON CONFLICT (${table.key.map(id).join(', ')}) DO ${update === '' ? 'NOTHING' : `UPDATE SET ${update}`}`;
  };
  const shape = `${name} but ${keep.join()}`;
  const rows = upserts.map((upsert) => upsert.row);
  return { kind: 'upsert', shape, literals: literalsOf(table, columns, rows), text };
}

/**
 * For a `since` column, which has the time since which another column has its value: it changes only if that value
 * changes.
 */
function givenOrKept({ since = {} }: Table, column: string): string {
  const given = `excluded.${id(column)}`;
  const other = since[column];
  if (other === undefined) return given;
  return `CASE WHEN t.${id(other)} = excluded.${id(other)} THEN t.${id(column)} ELSE ${given} END`;
}

export function addStep(target: StepTarget, adds: readonly Add[]): Step {
  const { name, table } = target;
  const columns = Object.keys(table.columns);
  const rows = adds.map(({ of, amounts }) => ({ ...of, ...amounts }));
  const text: Step['text'] = (placeholder) => {
    const counts = columns.filter((column) => !table.key.includes(column));
    const sums = counts.map((column) => `${id(column)} = t.${id(column)} + excluded.${id(column)}`);
    return `INSERT INTO ${name} AS t (${columns.map(id).join(', ')})
    SELECT ${casts(table, columns)} FROM ${unnest(table, columns, placeholder)}${whereOf(target)}
    ON CONFLICT (${table.key.map(id).join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
  };
  return { kind: 'add', shape: name, literals: literalsOf(table, columns, rows), text };
}

export function patchStep(
  target: StepTarget,
  { columns, patches }: { readonly columns: readonly string[]; readonly patches: readonly Patch[] },
): Step {
  const { name, table } = target;
  const rows: Record<string, unknown>[] = [];
  for (const patch of patches) rows.push({ ...patch.columns, ...patch.of });
  const all = [...new Set([...table.key, ...columns])];
  const text: Step['text'] = (placeholder) => {
    const update = columns.map((column) => `${id(column)} = ${cast(table, column)}`).join(', ');
    return `UPDATE ${name} AS t SET ${update} FROM ${unnest(table, all, placeholder)}
    WHERE ${sameKey(table)}${andOf(target)}`;
  };
  const shape = `${name} ${columns.join()}`;
  return { kind: 'patch', shape, literals: literalsOf(table, all, rows), text };
}

export function removeStep(target: StepTarget, removes: readonly Remove[]): Step {
  const { name, table } = target;
  const keys = removes.map((remove) => remove.of);
  const text: Step['text'] = (
    placeholder,
  ) => `DELETE FROM ${name} AS t USING ${unnest(table, table.key, placeholder)}
    WHERE ${sameKey(table)}${andOf(target)}`;
  return { kind: 'remove', shape: name, literals: literalsOf(table, table.key, keys), text };
}

const whereOf = ({ condition }: StepTarget): string =>
  condition === undefined ? '' : `\n    WHERE ${condition}`;
const andOf = ({ condition }: StepTarget): string =>
  condition === undefined ? '' : ` AND ${condition}`;

function literalsOf(
  table: Table,
  columns: readonly string[],
  rows: readonly Record<string, unknown>[],
): readonly string[] {
  const literals: string[] = [];
  for (const column of columns) {
    const values: unknown[] = [];
    for (const row of rows) values.push(row[column]);
    literals.push(arrayLiteral(typeOf(table, column), values));
  }
  return literals;
}

function unnest(table: Table, columns: readonly string[], placeholder: () => string): string {
  const arrays = columns.map(
    (column) => `${placeholder()}::${parameterType(typeOf(table, column))}`,
  );
  return `unnest(${arrays.join(', ')}) AS u(${columns.map(id).join(', ')})`;
}

const casts = (table: Table, columns: readonly string[]): string =>
  columns.map((column) => cast(table, column)).join(', ');

const cast = (table: Table, column: string): string =>
  castOf(`u.${id(column)}`, typeOf(table, column));

const sameKey = (table: Table): string =>
  table.key.map((column) => `t.${id(column)} = ${cast(table, column)}`).join(' AND ');

function typeOf(table: Table, column: string): string {
  const type = table.columns[column];
  if (type === undefined) throw new Error(`Table ${table.name} declares no column ${column}.`);
  return type;
}

const id = (column: string): string => `"${column}"`;

type PreparedText = { readonly name: string; readonly text: string };

/**
 * Keeps the text of each shape and prepares it under a name, because most statements of one writer have one of a few
 * shapes. The number of texts is the number of shapes in the code.
 */
export function preparedTexts(prefix: string) {
  const known = new Map<string, PreparedText>();
  return (shape: string, textOf: () => string): PreparedText => {
    const found = known.get(shape);
    if (found !== undefined) return found;
    const text = textOf();
    const made = { name: `${prefix}_${hash('sha256', text).slice(0, 24)}`, text };
    known.set(shape, made);
    return made;
  };
}

/** Returns `$1`, `$2`, … */
export function placeholders(): () => string {
  let count = 0;
  return () => `$${++count}`;
}

/**
 * A column of a batch is one parameter, a PostgreSQL array literal, which `unnest` turns into rows again. The type of the
 * parameter is an array of the column's type. Arrays and JSON are sent as text and cast per row.
 */
function parameterType(columnType: string): string {
  return travelsAsText(columnType) ? 'text[]' : `${columnType}[]`;
}

const castOf = (name: string, columnType: string): string =>
  travelsAsText(columnType) ? `${name}::${columnType}` : name;

const travelsAsText = (columnType: string): boolean =>
  columnType.endsWith('[]') || isJson(columnType);

const isJson = (columnType: string): boolean => columnType === 'jsonb' || columnType === 'json';

function arrayLiteral(columnType: string, values: readonly unknown[]): string {
  const text = isJson(columnType) ? (value: unknown) => JSON.stringify(value) : scalarText;
  let literal = '{';
  for (const [index, value] of values.entries()) {
    if (index > 0) literal += ',';
    if (value === null || value === undefined) literal += 'NULL';
    else literal += `"${text(value).replace(SPECIAL, '\\$&')}"`;
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

const SPECIAL = /["\\]/g;
