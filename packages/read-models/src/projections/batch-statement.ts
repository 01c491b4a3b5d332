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
import { placeholders, preparedTexts } from './prepared-texts.ts';
import type { Table } from './projection.ts';
import {
  type Add,
  addStep,
  type Patch,
  type Put,
  patchedColumns,
  patchStep,
  putStep,
  type Remove,
  type RowChange,
  removeStep,
  type Step,
  type StepTarget,
} from './row-steps.ts';

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
  const steps = batch.changes.flatMap(({ table, changes }) =>
    stepsOf(
      { name: `${batch.schema}.${table.name}`, table, condition: 'EXISTS (SELECT FROM moved)' },
      byKind(changes),
    ),
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
    const next = placeholders();
    const texts = steps.map((step) => step.text(next));
    return `WITH moved AS (${moved})${[...texts, ...parking].map((step, index) => `, step${index} AS (${step})`).join('')}
    SELECT CASE WHEN n = 0 THEN concat('${ELSEWHERE}: ', n)::int END,
      set_config('synchronous_commit', 'off', true)${notice}
    FROM (SELECT count(*) AS n FROM moved) AS moves`;
  };
  const patched = steps.some(({ kind }) => kind === 'patch');
  // Each combination of patched columns has its own text. Together they are too many to keep all prepared.
  const isCommon = (steps.length === 1 || !patched) && parking.length === 0;
  if (!isCommon) return { text: text(), values };
  const shape = [
    batch.schema,
    batch.told,
    ...steps.map(({ kind, shape }) => `${kind} ${shape}`),
  ].join('; ');
  return { ...commonText(shape, text), values };
}

const commonText = preparedTexts('batch');

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

/** Patches of the same columns share a step. A patch without columns changes nothing. */
function group(groups: Map<string, PatchGroup>, patch: Patch): void {
  const columns = patchedColumns(patch);
  if (columns.length === 0) return;
  const name = columns.join();
  const found = groups.get(name) ?? { columns, patches: [] };
  groups.set(name, found);
  found.patches.push(patch);
}

function stepsOf(
  target: StepTarget,
  { puts, adds, patches, removes }: ReturnType<typeof byKind>,
): Step[] {
  return [
    ...(puts.length > 0 ? [putStep(target, puts)] : []),
    ...(adds.length > 0 ? [addStep(target, adds)] : []),
    ...patches.map((group) => patchStep(target, group)),
    ...(removes.length > 0 ? [removeStep(target, removes)] : []),
  ];
}
