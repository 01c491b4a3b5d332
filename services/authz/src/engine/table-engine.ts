/**
 * Answers from the table where a tenant's index is not in memory: each question reads the tuples that matter
 * to it, and the index's own evaluator decides over them. Slower, and equal in every answer.
 */
import type { Positions } from '@cardea/read-models';
import type { Subgraphs } from '../adapters/subgraph.ts';
import type { Fields } from '../tuples/relation.ts';
import { type Answered, type Asking, type Engine, tooLarge } from './engine.ts';
import { inSlices } from './in-slices.ts';
import {
  type CheckRequest,
  checkEach,
  checkFor,
  eachOf,
  explainFor,
  filterFor,
  listObjectsFor,
  type Principal,
} from './on-behalf-of.ts';

const NOW = 'tuples';
const HISTORY = 'tuple_spans';
const WAIT_MS = 2_000;

export type TableEngineDependencies = {
  readonly subgraphs: Subgraphs;
  readonly positions: Positions;
  readonly monotonicMs: () => number;
  /** The position that an answer must not be older than; undefined while the end of the log is unknown. */
  readonly bound: (tenantId: string) => Promise<bigint | undefined>;
};

export function tableEngine(needs: TableEngineDependencies): Engine {
  const { subgraphs, monotonicMs } = needs;
  const subgraphOf = (of: Asking, asked: CheckRequest) =>
    subgraphs.ofChecks(of, principalsOf(asked), [asked]);
  return {
    check: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphOf(of, asked);
        return checkFor(index, asked, index.budget());
      }),
    checkAll: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphs.ofChecks(of, asked.flatMap(principalsOf), asked);
        return checkEach(index, asked);
      }),
    explain: (of, asked) =>
      ask(needs, of, async () => explainFor(await subgraphOf(of, asked), asked)),
    filter: (of, { object_ids, ...asked }) =>
      ask(needs, of, async () => {
        const { object_type } = asked;
        const objects = [...new Set(object_ids)].map((object_id) => ({ object_type, object_id }));
        const index = await subgraphs.ofChecks(of, principalsOf(asked), objects);
        return filterFor(index, asked, object_ids);
      }),
    listObjects: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphs.ofObjects(of, eachOf(asked));
        return inSlices(listObjectsFor(index, asked), monotonicMs);
      }),
    listUsers: (of, asked) =>
      ask(needs, of, async () => {
        const index = await subgraphs.ofUsers(of, asked);
        return inSlices(index.listUsers(asked), monotonicMs);
      }),
  };
}

const principalsOf = (asked: Principal & Partial<Fields>): readonly Principal[] => eachOf(asked);

/** Waits for the table; the position is read before the rows, so that it never promises more than they show. */
async function ask<T>(
  { positions, bound }: TableEngineDependencies,
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
    return tooLarge(error);
  }
}
