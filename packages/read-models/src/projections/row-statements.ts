/** Writes the rows of a consumer's batch in as few statements as their order allows. */
import type { Statement } from '@cardea/postgres';
import {
  type Add,
  addStep,
  type Patch,
  type Put,
  patchedColumns,
  patchStep,
  placeholders,
  preparedTexts,
  putStep,
  type Remove,
  type RowChange,
  removeStep,
  type Step,
  type StepTarget,
  upsertStep,
} from './row-steps.ts';
import type { Table, TableWrite, Upsert } from './table.ts';

/** The tables into which a consumer writes rows, and their schema. */
export type RowTarget = { readonly schema: string; readonly tables: readonly Table[] };

/**
 * Rows with the same key are never in one statement, so each row is written after the earlier rows with its key. Other
 * statements keep their position in the order.
 */
export function rowStatements(
  target: RowTarget,
  writes: readonly (TableWrite | Statement)[],
): readonly Statement[] {
  const tables = new Map(target.tables.map((table) => [table.name, table]));
  const groups: Group[] = [];
  for (const write of writes) {
    if (!('change' in write)) {
      groups.push({ statement: write });
      continue;
    }
    const table = tables.get(write.table);
    if (table === undefined) throw new Error(`There is no table ${write.table} to write to.`);
    const change = write.change as Written;
    const of = { table, form: formOf(change), key: keyOf(table, change) };
    const group = groupOf(groups, of);
    if (group === undefined) groups.push({ ...of, keys: new Set([of.key]), changes: [change] });
    else {
      group.keys.add(of.key);
      group.changes.push(change);
    }
  }
  return groups.map((group) =>
    'statement' in group ? group.statement : statementOf(target.schema, group),
  );
}

type Written = RowChange | Upsert;
type RowGroup = {
  readonly table: Table;
  /** Changes of one form share a statement. */
  readonly form: string;
  readonly keys: Set<string>;
  readonly changes: Written[];
};
type Group = RowGroup | { readonly statement: Statement };

/** The last group of changes to the table, if the change may join it. */
function groupOf(
  groups: readonly Group[],
  { table, form, key }: Pick<RowGroup, 'table' | 'form'> & { readonly key: string },
): RowGroup | undefined {
  const last = groups.findLast((group) => 'statement' in group || group.table === table);
  if (last === undefined || 'statement' in last) return undefined;
  return last.form === form && !last.keys.has(key) ? last : undefined;
}

function formOf(change: Written): string {
  switch (change.kind) {
    case 'put':
    case 'remove':
    case 'add':
      return change.kind;
    case 'patch':
      return `patch ${patchedColumns(change).join()}`;
    case 'upsert':
      return `upsert ${change.keep.join()}`;
  }
}

function keyOf({ key }: Table, change: Written): string {
  const of = 'row' in change ? change.row : change.of;
  return JSON.stringify(key.map((column) => String(of[column])));
}

const rowsText = preparedTexts('rows');

function statementOf(schema: string, group: RowGroup): Statement {
  const step = stepOf({ name: `${schema}.${group.table.name}`, table: group.table }, group.changes);
  const prepared = rowsText(`${step.kind} ${step.shape}`, () => step.text(placeholders()));
  return { ...prepared, values: step.literals };
}

function stepOf(target: StepTarget, changes: readonly Written[]): Step {
  const [first] = changes;
  switch (first?.kind) {
    case 'put':
      return putStep(target, changes.filter(isPut));
    case 'remove':
      return removeStep(target, changes.filter(isRemove));
    case 'add':
      return addStep(target, changes.filter(isAdd));
    case 'patch':
      return patchStep(target, {
        columns: patchedColumns(first),
        patches: changes.filter(isPatch),
      });
    case 'upsert':
      return upsertStep(target, { keep: first.keep, upserts: changes.filter(isUpsert) });
    case undefined:
      throw new Error('a group of rows without a row');
  }
}

const isPut = (change: Written): change is Put => change.kind === 'put';
const isRemove = (change: Written): change is Remove => change.kind === 'remove';
const isAdd = (change: Written): change is Add => change.kind === 'add';
const isPatch = (change: Written): change is Patch => change.kind === 'patch';
const isUpsert = (change: Written): change is Upsert => change.kind === 'upsert';
