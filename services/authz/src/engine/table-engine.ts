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

const TABLE = ['tuples'];
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
  const subgraphOf = (tenantId: string, asked: CheckRequest) =>
    subgraphs.ofChecks(tenantId, principalsOf(asked), [asked]);
  return {
    check: (of, asked) =>
      ask(needs, of, async ({ tenantId }) => {
        const index = await subgraphOf(tenantId, asked);
        return checkFor(index, asked, index.budget());
      }),
    checkAll: (of, asked) =>
      ask(needs, of, async ({ tenantId }) => {
        const index = await subgraphs.ofChecks(tenantId, asked.flatMap(principalsOf), asked);
        return checkEach(index, asked);
      }),
    explain: (of, asked) =>
      ask(needs, of, async ({ tenantId }) => explainFor(await subgraphOf(tenantId, asked), asked)),
    filter: (of, { object_ids, ...asked }) =>
      ask(needs, of, async ({ tenantId }) => {
        const { object_type } = asked;
        const objects = [...new Set(object_ids)].map((object_id) => ({ object_type, object_id }));
        const index = await subgraphs.ofChecks(tenantId, principalsOf(asked), objects);
        return filterFor(index, asked, object_ids);
      }),
    listObjects: (of, asked) =>
      ask(needs, of, async ({ tenantId }) => {
        const index = await subgraphs.ofObjects(tenantId, eachOf(asked));
        return inSlices(listObjectsFor(index, asked), monotonicMs);
      }),
    listUsers: (of, asked) =>
      ask(needs, of, async ({ tenantId }) => {
        const index = await subgraphs.ofUsers(tenantId, asked);
        return inSlices(index.listUsers(asked), monotonicMs);
      }),
  };
}

const principalsOf = (asked: Principal & Partial<Fields>): readonly Principal[] => eachOf(asked);

/** Waits for the table; the position is read before the rows, so that it never promises more than they show. */
async function ask<T>(
  { positions, bound }: TableEngineDependencies,
  of: Asking,
  answer: (of: Asking) => Promise<T>,
): Promise<Answered<T>> {
  const least = await bound(of.tenantId);
  if (least === undefined) return { unanswered: 'not_caught_up' };
  const atLeast = of.atLeast !== undefined && of.atLeast > least ? of.atLeast : least;
  if (!(await positions.reached(TABLE, atLeast, WAIT_MS))) return { unanswered: 'not_caught_up' };
  const position = positions.passed('tuples');
  try {
    return { value: await answer(of), position };
  } catch (error) {
    return tooLarge(error);
  }
}
