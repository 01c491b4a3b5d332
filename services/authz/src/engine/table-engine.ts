/**
 * Answers from the table where a tenant's index is not in memory: each question reads the tuples that matter
 * to it, and the index's own evaluator decides over them. Slower, and equal in every answer.
 */
import type { Positions } from '@cardea/read-models';
import type { Clock } from '@cardea/runtime';
import type { Affected } from '../adapters/affected-tuples.ts';
import type { Subgraphs } from '../adapters/subgraph.ts';
import type { Fields } from '../tuples/relation.ts';
import { newScratch } from './closure.ts';
import { type DryRun, type DryRunQuestion, dryRun } from './dry-run.ts';
import { type Answered, type Asking, answeredInTurn, type Engine, unansweredBy } from './engine.ts';
import { inSlices } from './in-slices.ts';
import { indexFor } from './model-index.ts';
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
} from './on-behalf-of.ts';
import type { Run, TupleIndex, Walk } from './tuple-index.ts';
import { type TurnLimits, type Turns, turns } from './turns.ts';

/** Lists and dry runs, which read far more of the table than a check does. */
const LARGE_READS: TurnLimits = {
  atOnce: 4,
  atOnceOfTenant: 2,
  waiting: 64,
  waitingOfTenant: 16,
  waitMs: 10_000,
};
/** Rows between two pauses. */
const SLICE_ROWS = 512;
const NOW = 'tuples';
const HISTORY = 'tuple_spans';
const WAIT_MS = 2_000;

export type TableEngineDependencies = {
  readonly subgraphs: Subgraphs;
  readonly positions: Positions;
  readonly monotonicMs: () => number;
  /** The position that an answer must not be older than; undefined while the end of the log is unknown. */
  readonly bound: (tenantId: string) => Promise<bigint | undefined>;
  /** Shared by all that reads much. */
  readonly largeReads: Turns;
};

export const largeReads = (clock: Pick<Clock, 'after'>): Turns => turns(LARGE_READS, clock);

export function tableEngine(needs: TableEngineDependencies): Engine {
  const { subgraphs, monotonicMs } = needs;
  /** The subgraph has no other questions, but walks over others go on meanwhile. */
  const walked = <T>(index: TupleIndex, start: (run: Run) => Walk<T>): Promise<T> =>
    inSlices(start(index.run(newScratch())), monotonicMs);
  const subgraphOf = (of: Asking, asked: CheckRequest) =>
    subgraphs.ofChecks(of, principalsOf(asked), [asked]);
  return {
    check: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphOf(of, asked);
        return walked(index, (run) => checkFor(index, asked, run));
      }),
    checkAll: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphs.ofChecks(of, asked.flatMap(principalsOf), asked);
        return walked(index, (run) => checkEach(index, asked, run));
      }),
    explain: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphOf(of, asked);
        return walked(index, (run) => explainFor(index, asked, run));
      }),
    filter: (of, asked) =>
      ask(needs, of, async () => {
        const { object_type } = asked;
        const ids = new Set(asked.object_ids);
        const objects = [...ids].map((object_id) => ({ object_type, object_id }));
        const index = await subgraphs.ofChecks(of, principalsOf(asked), objects);
        return walked(index, (run) => filterFor(index, asked, run));
      }),
    listObjects: (of, asked) =>
      askInTurn(needs, of, async () => {
        const index = await subgraphs.ofObjects(of, eachOf(asked));
        return inSlices(listObjectsFor(index, asked), monotonicMs);
      }),
    listUsers: (of, asked) =>
      askInTurn(needs, of, async () => {
        const index = await subgraphs.ofUsers(of, asked);
        return inSlices(listUsersFor(index, asked), monotonicMs);
      }),
  };
}

const principalsOf = (asked: Principal & Partial<Fields>): readonly Principal[] => eachOf(asked);

/** Reads the tuples that a batch of changes can matter to, and answers what it would change. */
export const dryRuns =
  (
    needs: Omit<TableEngineDependencies, 'subgraphs'> & {
      /** All of the tenant where no changes are named. */
      readonly affected: (
        tenantId: string,
        changed: readonly Fields[] | undefined,
      ) => Promise<Affected>;
    },
  ): DryRuns =>
  (of, question) =>
    askInTurn(needs, of, async () => {
      const { writes, deletes } = question.batch;
      const changed = [...writes, ...deletes];
      const isOfModel = question.types !== undefined;
      const { tuples, isCut, types, ...nodes } = await needs.affected(
        of.tenantId,
        isOfModel ? undefined : changed,
      );
      const [before, after] = [indexFor(types), indexFor(question.types ?? types)];
      await inSlices(fill([before, after], tuples), needs.monotonicMs);
      const run = dryRun({ ...nodes, before, after }, question);
      const answer = await inSlices(run, needs.monotonicMs);
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
): Promise<Answered<T>> =>
  answeredInTurn(needs.largeReads, of.tenantId, () => ask(needs, of, answer));

/** Waits for the table; the position is read before the rows, so that it never promises more than they show. */
async function ask<T>(
  { positions, bound }: Pick<TableEngineDependencies, 'positions' | 'bound'>,
  of: Asking,
  answer: () => Promise<T>,
): Promise<Answered<T>> {
  const least = await bound(of.tenantId);
  if (least === undefined) return { unanswered: 'not_caught_up' };
  const atLeast = of.atLeast !== undefined && of.atLeast > least ? of.atLeast : least;
  const table = of.asOf === undefined ? NOW : HISTORY;
  if (!(await positions.reached([table], atLeast, WAIT_MS))) return { unanswered: 'not_caught_up' };
  const position = positions.passed(table);
  try {
    return { value: await answer(), position };
  } catch (error) {
    return unansweredBy(error);
  }
}
