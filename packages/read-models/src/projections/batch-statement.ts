/**
 * A batch as one statement: the checkpoint moves if it is still where this runner left it, and only then do the rows
 * change. Otherwise it fails, together with everything in its transaction. So a runner that was replaced writes
 * nothing.
 */
import {
  type Move,
  moveStep,
  ownerOf,
  type ParkedEvent,
  parkStep,
  positionsChannel,
} from '@cardea/log-follower';
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
} from './row-steps.ts';
import type { Table } from './table.ts';

export type { RowChange } from './row-steps.ts';

export type Batch = Omit<Move, 'kind'> & {
  /** A batch contains at most one change per row and table. */
  readonly changes: readonly { readonly table: Table; readonly changes: readonly RowChange[] }[];
  readonly parked: readonly ParkedEvent[];
  /** Whether other processes are notified. */
  readonly told: boolean;
};

/** Plain SQL can end a transaction only by an error. This text is not a number, so casting it fails. */
const ELSEWHERE = 'the checkpoint stands elsewhere';

/** Whether the checkpoint was not where the runner had left it. */
export const isElsewhere = (error: unknown): boolean =>
  error instanceof Error && error.message.includes(ELSEWHERE);

export function batchStatement(batch: Batch): Statement {
  const steps: Step[] = [];
  for (const { table, changes } of batch.changes) {
    const name = `${batch.schema}.${table.name}`;
    steps.push(...stepsOf({ name, table, condition: 'EXISTS (SELECT FROM moved)' }, changes));
  }
  const values: unknown[] = [];
  let shape = `${batch.schema}; ${batch.told}`;
  let isPatched = false;
  for (const step of steps) {
    values.push(...step.literals);
    shape += `; ${step.kind} ${step.shape}`;
    isPatched ||= step.kind === 'patch';
  }
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
    const next = placeholders();
    const texts = steps.map((step) => step.text(next));
    return `WITH moved AS (${moved})${[...texts, ...parking].map((step, index) => `, step${index} AS (${step})`).join('')}
    SELECT CASE WHEN n = 0 THEN concat('${ELSEWHERE}: ', n)::int END,
      set_config('synchronous_commit', 'off', true)${notice}
    FROM (SELECT count(*) AS n FROM moved) AS moves`;
  };
  // Each combination of patched columns has its own text. Together they are too many to keep all prepared.
  const isCommon = (steps.length === 1 || !isPatched) && parking.length === 0;
  if (!isCommon) return { text: text(), values };
  return { ...commonText(shape, text), values };
}

const commonText = preparedTexts('batch');

type PatchGroup = { readonly columns: readonly string[]; readonly patches: Patch[] };

/** One step for each kind of change, and for patches one for each set of columns. */
function stepsOf(target: StepTarget, changes: readonly RowChange[]): Step[] {
  const puts: Put[] = [];
  const removes: Remove[] = [];
  const adds: Add[] = [];
  const patches = new Map<string, PatchGroup>();
  for (const change of changes) {
    switch (change.kind) {
      case 'put':
        puts.push(change);
        break;
      case 'remove':
        removes.push(change);
        break;
      case 'patch':
        group(patches, change);
        break;
      case 'add':
        adds.push(change);
        break;
    }
  }
  const steps: Step[] = [];
  if (puts.length > 0) steps.push(putStep(target, puts));
  if (adds.length > 0) steps.push(addStep(target, adds));
  for (const patched of patches.values()) steps.push(patchStep(target, patched));
  if (removes.length > 0) steps.push(removeStep(target, removes));
  return steps;
}

/** Patches of the same columns share a step. A patch without columns changes nothing. */
function group(groups: Map<string, PatchGroup>, patch: Patch): void {
  const columns = patchedColumns(patch);
  if (columns.length === 0) return;
  const name = columns.join();
  const found = groups.get(name) ?? { columns, patches: [] };
  groups.set(name, found);
  found.patches.push(patch);
}
