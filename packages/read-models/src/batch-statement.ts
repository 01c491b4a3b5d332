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
  POSITIONS_CHANNEL,
  parkStep,
} from '@cardea/log-follower';
import { arrayLiteral, castOf, parameterType } from './array-parameter.ts';
import type { Change } from './change.ts';
import type { Statement } from './database.ts';
import type { Table } from './projection.ts';

export type RowChange = Change<Record<string, unknown>, Record<string, unknown>>;

export type Batch = Omit<Move, 'kind'> & {
  /** At most one change per row and table. */
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

export function batchStatement(batch: Batch): Statement {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const steps: string[] = [];
  let patched = false;
  for (const { table, changes } of batch.changes) {
    const target = { name: `${batch.schema}.${table.name}`, table };
    const { puts, patches, removes, adds } = byKind(changes);
    if (puts.length > 0) steps.push(putStep(target, puts, parameter));
    if (adds.length > 0) steps.push(addStep(target, adds, parameter));
    for (const group of patches) steps.push(patchStep(target, group, parameter));
    if (removes.length > 0) steps.push(removeStep(target, removes, parameter));
    if (patches.length > 0) patched = true;
  }
  const of = { ...batch, kind: 'projection' as const };
  if (batch.parked.length > 0) {
    steps.push(parkStep({ ...of, owner: ownerOf(of) }, batch.parked, parameter));
  }
  const moved = moveStep(of, parameter);
  const notice = batch.told
    ? `, pg_notify('${POSITIONS_CHANNEL}', ${parameter(`${batch.schema} ${batch.name} ${batch.to}`)})`
    : '';
  const text = `WITH moved AS (${moved})${steps.map((step, index) => `, step${index} AS (${step})`).join('')}
    SELECT CASE WHEN n = 0 THEN concat('${ELSEWHERE}: ', n)::int END,
      set_config('synchronous_commit', 'off', true)${notice}
    FROM (SELECT count(*) AS n FROM moved) AS moves`;
  // Each combination of patched columns has its own text: together too many to keep all prepared.
  const isCommon = (steps.length === 1 || !patched) && batch.parked.length === 0;
  return isCommon ? { name: statementName(text), text, values } : { text, values };
}

const statementName = (text: string): string => `batch_${hash('sha256', text).slice(0, 24)}`;

type Target = { readonly name: string; readonly table: Table };
type Parameter = (value: unknown) => string;
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

function putStep({ name, table }: Target, puts: readonly Put[], parameter: Parameter): string {
  const columns = Object.keys(table.columns);
  const rows = puts.map((put) => put.row);
  const rest = columns.filter((column) => !table.key.includes(column));
  const update = rest.map((column) => `${id(column)} = excluded.${id(column)}`).join(', ');
  return `INSERT INTO ${name} (${columns.map(id).join(', ')})
    SELECT ${casts(table, columns)} FROM ${unnest(table, columns, rows, parameter)}
    WHERE EXISTS (SELECT FROM moved)
    ON CONFLICT (${table.key.map(id).join(', ')}) DO ${update === '' ? 'NOTHING' : `UPDATE SET ${update}`}`;
}

function addStep({ name, table }: Target, adds: readonly Add[], parameter: Parameter): string {
  const columns = Object.keys(table.columns);
  const rows = adds.map(({ of, amounts }) => ({ ...of, ...amounts }));
  const counts = columns.filter((column) => !table.key.includes(column));
  const sums = counts.map((column) => `${id(column)} = t.${id(column)} + excluded.${id(column)}`);
  return `INSERT INTO ${name} AS t (${columns.map(id).join(', ')})
    SELECT ${casts(table, columns)} FROM ${unnest(table, columns, rows, parameter)}
    WHERE EXISTS (SELECT FROM moved)
    ON CONFLICT (${table.key.map(id).join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
}

function patchStep(target: Target, { columns, patches }: PatchGroup, parameter: Parameter): string {
  const { name, table } = target;
  const rows = patches.map((patch) => ({ ...patch.columns, ...patch.of }));
  const all = [...table.key, ...columns.filter((column) => !table.key.includes(column))];
  const update = columns.map((column) => `${id(column)} = ${cast(table, column)}`).join(', ');
  return `UPDATE ${name} AS t SET ${update} FROM ${unnest(table, all, rows, parameter)}
    WHERE ${sameKey(table)} AND EXISTS (SELECT FROM moved)`;
}

function removeStep({ name, table }: Target, removes: readonly Remove[], parameter: Parameter) {
  const keys = removes.map((remove) => remove.of);
  return `DELETE FROM ${name} AS t USING ${unnest(table, table.key, keys, parameter)}
    WHERE ${sameKey(table)} AND EXISTS (SELECT FROM moved)`;
}

function unnest(
  table: Table,
  columns: readonly string[],
  rows: readonly Record<string, unknown>[],
  parameter: Parameter,
): string {
  const arrays = columns.map((column) => {
    const type = typeOf(table, column);
    const literal = arrayLiteral(
      type,
      rows.map((row) => row[column]),
    );
    return `${parameter(literal)}::${parameterType(type)}`;
  });
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
