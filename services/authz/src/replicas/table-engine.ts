/**
 * Answers from the table if a tenant's index is not in memory. Each question reads the tuples that matter to it, and
 * the index's own evaluator decides. This is slower, but every answer is equal.
 */
import type { Positions } from '@cardea/read-models';
import type { Clock, FairQueueForm } from '@cardea/runtime';
import type { Affected } from '../adapters/affected-tuples.ts';
import type { Subgraphs } from '../adapters/subgraph.ts';
import { type DryRun, type DryRunQuestion, dryRun } from '../engine/dry-run.ts';
import { type Evaluations, evaluate } from '../engine/evaluations.ts';
import { indexFor } from '../engine/model-index.ts';
import {
  type CheckRequest,
  checkEach,
  checkFor,
  eachOf,
  explainFor,
  filterFor,
  listObjectsFor,
  listUsersFor,
  type Principal,
} from '../engine/on-behalf-of.ts';
import type { Run, TupleIndex, Walk } from '../engine/tuple-index.ts';
import { type Turns, turns } from '../engine/turns.ts';
import type { Fields } from '../relations/relation.ts';
import { type Answered, answeredInTurn, unansweredBy } from './answered.ts';
import type { Asking, Engine } from './engine.ts';

/** Lists and dry runs, which read far more of the table than a check. */
const LARGE_READS: FairQueueForm = {
  places: 4,
  perFreePlace: 1,
  waitingMax: 64,
  waitMaxMs: 10_000,
};
/** Rows between two pauses. */
const SLICE_ROWS = 512;
const NOW = 'tuples';
const HISTORY = 'tuple_spans';
const WAIT_MS = 2_000;

export type TableEngineDependencies = {
  readonly subgraphs: Subgraphs;
  readonly positions: Positions;
  readonly evaluations: Evaluations;
  /** The minimum position of an answer. Undefined while the end of the log is unknown. */
  readonly bound: (tenantId: string) => Promise<bigint | undefined>;
  /** Shared by all large reads. */
  readonly largeReads: Turns;
};

export const largeReads = (clock: Pick<Clock, 'after' | 'monotonicMs'>): Turns =>
  turns(LARGE_READS, clock);

export function tableEngine(needs: TableEngineDependencies): Engine {
  const { subgraphs, evaluations } = needs;
  /** The subgraph serves only this question, but walks over other indexes continue in between. */
  const walked = <T>(
    { work }: Asking,
    { run }: TupleIndex,
    start: (run: Run) => Walk<T>,
  ): Promise<T> => evaluate(evaluations, work, { run, start });
  const listed = <T>(
    { work }: Asking,
    { listRun }: TupleIndex,
    start: (run: Run) => Walk<T>,
  ): Promise<T> => evaluate(evaluations, work, { run: listRun, start });
  const subgraphOf = (of: Asking, asked: CheckRequest) =>
    subgraphs.ofChecks(of, principalsOf(asked), [asked]);
  return {
    check: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphOf(of, asked);
        return walked(of, index, (run) => checkFor(index, asked, run));
      }),
    checkAll: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphs.ofChecks(of, asked.flatMap(principalsOf), asked);
        return walked(of, index, (run) => checkEach(index, asked, run));
      }),
    explain: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphOf(of, asked);
        return walked(of, index, (run) => explainFor(index, asked, run));
      }),
    filter: (of, asked) =>
      ask(needs, of, async () => {
        const { object_type } = asked;
        const ids = new Set(asked.object_ids);
        const objects = [...ids].map((object_id) => ({ object_type, object_id }));
        const index = await subgraphs.ofChecks(of, principalsOf(asked), objects);
        return walked(of, index, (run) => filterFor(index, asked, run));
      }),
    listObjects: (of, asked) =>
      askInTurn(needs, of, async () => {
        const index = await subgraphs.ofObjects(of, eachOf(asked));
        return listed(of, index, (run) => listObjectsFor(index, asked, run));
      }),
    listUsers: (of, asked) =>
      askInTurn(needs, of, async () => {
        const index = await subgraphs.ofUsers(of, asked);
        return listed(of, index, (run) => listUsersFor(index, asked, run));
      }),
  };
}

const principalsOf = (asked: Principal & Partial<Fields>): readonly Principal[] => eachOf(asked);

/** Reads the tuples that a batch of changes can affect, and returns what the batch would change. */
export const dryRuns =
  (
    needs: Omit<TableEngineDependencies, 'subgraphs'> & {
      /** Reads all tuples of the tenant if no changes are named. */
      readonly affected: (of: Asking, changed: readonly Fields[] | undefined) => Promise<Affected>;
    },
  ): DryRuns =>
  (of, question) =>
    askInTurn(needs, of, async () => {
      const { writes, deletes } = question.batch;
      const changed = [...writes, ...deletes];
      const isOfModel = question.types !== undefined;
      const { tuples, isCut, types, ...nodes } = await needs.affected(
        of,
        isOfModel ? undefined : changed,
      );
      const [before, after] = [indexFor(types), indexFor(question.types ?? types)];
      await needs.evaluations.slices(of.work, fill([before, after], tuples));
      const answer = await evaluate(needs.evaluations, of.work, {
        run: before.listRun,
        start: (run) => dryRun({ ...nodes, before, after }, question, run),
      });
      return { ...answer, complete: answer.complete && !isCut };
    });

function* fill(indexes: readonly TupleIndex[], tuples: readonly Fields[]): Walk<void> {
  for (const [at, fields] of tuples.entries()) {
    for (const index of indexes) index.write(fields);
    if (at % SLICE_ROWS === SLICE_ROWS - 1) yield;
  }
}

export type DryRuns = (of: Asking, question: DryRunQuestion) => Promise<Answered<DryRun>>;

const askInTurn = <T>(
  needs: Pick<TableEngineDependencies, 'positions' | 'bound' | 'largeReads'>,
  of: Asking,
  answer: () => Promise<T>,
): Promise<Answered<T>> => answeredInTurn(needs.largeReads, of.work, () => ask(needs, of, answer));

const ascending = (a: bigint, b: bigint): number => Number(a - b);

/** Waits for the table. The position is read before the rows, so it never promises more than they show. */
async function ask<T>(
  { positions, bound }: Pick<TableEngineDependencies, 'positions' | 'bound'>,
  of: Asking,
  answer: () => Promise<T>,
): Promise<Answered<T>> {
  const least = await bound(of.tenantId);
  if (least === undefined) return { unanswered: 'not_caught_up' };
  const atLeast = of.atLeast !== undefined && of.atLeast > least ? of.atLeast : least;
  // Models of all times are stored with the current tuples, so that table is needed too.
  const tables = of.asOf === undefined ? [NOW] : [NOW, HISTORY];
  if (!(await positions.reached(tables, atLeast, WAIT_MS))) return { unanswered: 'not_caught_up' };
  const [position = 0n] = tables.map((table) => positions.passed(table)).sort(ascending);
  try {
    of.work.expectClient();
    return { value: await answer(), position };
  } catch (error) {
    return unansweredBy(error);
  }
}
