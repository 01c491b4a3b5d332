/**
 * A batch as one statement: the checkpoint moves if it is still where this runner left it, and only then do
 * the rows change. Otherwise it fails, and whatever shares its transaction with it: a runner that was replaced
 * meanwhile writes nothing.
 */
import { hash } from 'node:crypto';
import {
  type Move,
  moveStep,
  ownerOf,
  type ParkedEvent,
  parkStep,
  positionsChannel,
} from '@cardea/log-follower';
import type { Statement } from '@cardea/postgres';
import { arrayLiteral, castOf, parameterType } from '../database/array-parameter.ts';
import type { Change } from './change.ts';
import type { Table } from './projection.ts';

export type RowChange = Change<Record<string, unknown>, Record<string, unknown>>;

export type Batch = Omit<Move, 'kind'> & {
  /** A batch holds at most one change per row and table. */
  readonly changes: readonly { readonly table: Table; readonly changes: readonly RowChange[] }[];
  readonly parked: readonly ParkedEvent[];
  /** Other processes hear of it. */
  readonly told: boolean;
};

/** Plain SQL ends a transaction by an error only: this text is no number. */
const ELSEWHERE = 'the checkpoint stands elsewhere';

/** True when the checkpoint was not where the runner had left it. */
export const isElsewhere = (error: unknown): boolean =>
  error instanceof Error && error.message.includes(ELSEWHERE);

/** A part of a batch: its values, and its text, which depends on nothing but its shape. */
type Step = {
  readonly kind: RowChange['kind'];
  readonly shape: string;
  readonly literals: readonly string[];
  /** Takes a placeholder for each literal, in order. */
  readonly text: (placeholder: () => string) => string;
};

export function batchStatement(batch: Batch): Statement {
  const steps = batch.changes.flatMap(({ table, changes }) =>
    stepsOf({ name: `${batch.schema}.${table.name}`, table }, byKind(changes)),
  );
  const values: unknown[] = steps.flatMap(({ literals }) => literals);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const of = { ...batch, kind: 'projection' as const };
  const parking =
    batch.parked.length > 0
      ? [parkStep({ ...of, owner: ownerOf(of) }, batch.parked, parameter)]
      : [];
  const moved = moveStep(of, parameter);
  const notice = batch.told
    ? `, pg_notify('${positionsChannel(batch.schema)}', ${parameter(`${batch.schema} ${batch.name} ${batch.to}`)})`
    : '';
  const text = (): string => {
    let placeholders = 0;
    const texts = steps.map((step) => step.text(() => `$${++placeholders}`));
    return `WITH moved AS (${moved})${[...texts, ...parking].map((step, index) => `, step${index} AS (${step})`).join('')}
    SELECT CASE WHEN n = 0 THEN concat('${ELSEWHERE}: ', n)::int END,
      set_config('synchronous_commit', 'off', true)${notice}
    FROM (SELECT count(*) AS n FROM moved) AS moves`;
  };
  const patched = steps.some(({ kind }) => kind === 'patch');
  // Each combination of patched columns has its own text: together too many to keep all prepared.
  const isCommon = (steps.length === 1 || !patched) && parking.length === 0;
  if (!isCommon) return { text: text(), values };
  const shape = [
    batch.schema,
    batch.told,
    ...steps.map(({ kind, shape }) => `${kind} ${shape}`),
  ].join('; ');
  return { ...commonStatement(shape, text), values };
}

/** Statements by shape: most batches of a projection have one of a few shapes. */
const commonStatements = new Map<string, { readonly name: string; readonly text: string }>();

function commonStatement(shape: string, textOf: () => string) {
  const known = commonStatements.get(shape);
  if (known !== undefined) return known;
  const text = textOf();
  const made = { name: `batch_${hash('sha256', text).slice(0, 24)}`, text };
  commonStatements.set(shape, made);
  return made;
}

type Target = { readonly name: string; readonly table: Table };
type Put = Extract<RowChange, { kind: 'put' }>;
type Patch = Extract<RowChange, { kind: 'patch' }>;
type Remove = Extract<RowChange, { kind: 'remove' }>;
type Add = Extract<RowChange, { kind: 'add' }>;
type PatchGroup = { readonly columns: readonly string[]; readonly patches: Patch[] };

function byKind(changes: readonly RowChange[]) {
  const puts: Put[] = [];
  const removes: Remove[] = [];
  const adds: Add[] = [];
  const groups = new Map<string, PatchGroup>();
  for (const change of changes) {
    switch (change.kind) {
      case 'put':
        puts.push(change);
        break;
      case 'remove':
        removes.push(change);
        break;
      case 'patch':
        group(groups, change);
        break;
      case 'add':
        adds.push(change);
        break;
    }
  }
  return { puts, removes, adds, patches: [...groups.values()] };
}

/** Patches of the same columns share a step; a patch without columns changes nothing. */
function group(groups: Map<string, PatchGroup>, patch: Patch): void {
  const columns = Object.keys(patch.columns)
    .filter((column) => patch.columns[column] !== undefined)
    .sort();
  if (columns.length === 0) return;
  const name = columns.join();
  const found = groups.get(name) ?? { columns, patches: [] };
  groups.set(name, found);
  found.patches.push(patch);
}

function stepsOf(
  target: Target,
  { puts, adds, patches, removes }: ReturnType<typeof byKind>,
): Step[] {
  return [
    ...(puts.length > 0 ? [putStep(target, puts)] : []),
    ...(adds.length > 0 ? [addStep(target, adds)] : []),
    ...patches.map((group) => patchStep(target, group)),
    ...(removes.length > 0 ? [removeStep(target, removes)] : []),
  ];
}

function putStep({ name, table }: Target, puts: readonly Put[]): Step {
  const columns = Object.keys(table.columns);
  const rows = puts.map((put) => put.row);
  const text: Step['text'] = (placeholder) => {
    const rest = columns.filter((column) => !table.key.includes(column));
    const update = rest.map((column) => `${id(column)} = excluded.${id(column)}`).join(', ');
    return `INSERT INTO ${name} (${columns.map(id).join(', ')})
    SELECT ${casts(table, columns)} FROM ${unnest(table, columns, placeholder)}
    WHERE EXISTS (SELECT FROM moved)
    ON CONFLICT (${table.key.map(id).join(', ')}) DO ${update === '' ? 'NOTHING' : `UPDATE SET ${update}`}`;
  };
  return { kind: 'put', shape: name, literals: literalsOf(table, columns, rows), text };
}

function addStep({ name, table }: Target, adds: readonly Add[]): Step {
  const columns = Object.keys(table.columns);
  const rows = adds.map(({ of, amounts }) => ({ ...of, ...amounts }));
  const text: Step['text'] = (placeholder) => {
    const counts = columns.filter((column) => !table.key.includes(column));
    const sums = counts.map((column) => `${id(column)} = t.${id(column)} + excluded.${id(column)}`);
    return `INSERT INTO ${name} AS t (${columns.map(id).join(', ')})
    SELECT ${casts(table, columns)} FROM ${unnest(table, columns, placeholder)}
    WHERE EXISTS (SELECT FROM moved)
    ON CONFLICT (${table.key.map(id).join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
  };
  return { kind: 'add', shape: name, literals: literalsOf(table, columns, rows), text };
}

function patchStep({ name, table }: Target, { columns, patches }: PatchGroup): Step {
  const rows = patches.map((patch) => ({ ...patch.columns, ...patch.of }));
  const all = [...table.key, ...columns.filter((column) => !table.key.includes(column))];
  const text: Step['text'] = (placeholder) => {
    const update = columns.map((column) => `${id(column)} = ${cast(table, column)}`).join(', ');
    return `UPDATE ${name} AS t SET ${update} FROM ${unnest(table, all, placeholder)}
    WHERE ${sameKey(table)} AND EXISTS (SELECT FROM moved)`;
  };
  const shape = `${name} ${columns.join()}`;
  return { kind: 'patch', shape, literals: literalsOf(table, all, rows), text };
}

function removeStep({ name, table }: Target, removes: readonly Remove[]): Step {
  const keys = removes.map((remove) => remove.of);
  const text: Step['text'] = (
    placeholder,
  ) => `DELETE FROM ${name} AS t USING ${unnest(table, table.key, placeholder)}
    WHERE ${sameKey(table)} AND EXISTS (SELECT FROM moved)`;
  return { kind: 'remove', shape: name, literals: literalsOf(table, table.key, keys), text };
}

const literalsOf = (
  table: Table,
  columns: readonly string[],
  rows: readonly Record<string, unknown>[],
): readonly string[] =>
  columns.map((column) =>
    arrayLiteral(
      typeOf(table, column),
      rows.map((row) => row[column]),
    ),
  );

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
