import type { Clock } from '@cardea/runtime';
import type { Fields } from '../tuples/relation.ts';
import type { Follower } from './follower.ts';
import { slice } from './in-slices.ts';
import type { TenantIndexes } from './tenant-indexes.ts';
import {
  type Checked,
  EvaluationBudgetExceeded,
  type Question,
  type TupleIndex,
} from './tuple-index.ts';

export type Unanswered = 'evaluation_budget_exceeded' | 'not_caught_up' | 'overloaded';
/** The answer with the log position that it reflects, or why none can be given now. */
export type Answered<T> =
  | { readonly value: T; readonly position: bigint }
  | { readonly unanswered: Unanswered };

/**
 * Answers questions about a tenant's tuples, never from before the last write that this process
 * acknowledged for the tenant, nor from before `atLeast`. The index in memory answers only while it is
 * known to be fresh.
 */
export interface Engine {
  check(tenantId: string, fields: Fields, atLeast: bigint | undefined): Promise<Answered<Checked>>;
  filter(
    tenantId: string,
    question: Question & { readonly object_ids: readonly string[] },
    atLeast: bigint | undefined,
  ): Promise<Answered<readonly boolean[]>>;
  listObjects(
    tenantId: string,
    question: Question,
    atLeast: bigint | undefined,
  ): Promise<Answered<readonly string[]>>;
}

export type EngineDependencies = {
  readonly follower: Follower;
  readonly tenants: TenantIndexes;
  readonly clock: Clock;
  /**
   * Milliseconds since the end of the log was last seen, after which the index in memory answers nothing.
   */
  readonly maxStalenessMs: number;
};

const WAIT_MS = 2_000;
/** Walks that take longer than a slice: running at once, and waiting for their turn. */
const LONG_WALKS = 2;
const LONG_WALKS_WAITING_MAX = 64;
/** Tries while the index changes; the last one pauses the follower. */
const WALKS_MAX = 3;
const HOLD_MS = 250;
/** Times that a request loads a tenant whose index is evicted again before it is used. */
const LOADS_MAX = 3;

export function indexEngine(needs: EngineDependencies): Engine {
  const { clock } = needs;
  const monotonicMs = () => clock.monotonicMs();
  const turns = longWalkTurns();

  return {
    check: (tenantId, fields, atLeast) =>
      ask(needs, { tenantId, atLeast }, (index) => index.check(fields)),
    filter: (tenantId, { object_ids, ...question }, atLeast) =>
      ask(needs, { tenantId, atLeast }, (index) => index.filter(question, object_ids)),
    listObjects: async (tenantId, question, atLeast) => {
      const short = await ask(needs, { tenantId, atLeast }, (index) =>
        slice(index.listObjects(question), monotonicMs),
      );
      if ('unanswered' in short) return short;
      if (short.value !== undefined) return { ...short, value: short.value.value };
      return turns(() => walkLong(needs, tenantId, question)).catch(tooLarge);
    },
  };
}

/** Starts again if the index changes meanwhile; during the last try the follower is paused. */
async function walkLong(
  needs: EngineDependencies,
  tenantId: string,
  question: Question,
): Promise<Answered<readonly string[]>> {
  for (let tries = 1; tries < WALKS_MAX; tries++) {
    const answer = await walkOnce(needs, tenantId, { question });
    if (answer !== undefined) return answer;
  }
  const release = needs.follower.hold();
  try {
    const deadlineMs = needs.clock.monotonicMs() + HOLD_MS;
    const answer = await walkOnce(needs, tenantId, { question, deadlineMs });
    return answer ?? { unanswered: 'overloaded' };
  } finally {
    release();
  }
}

/** Continues between other requests; undefined if the index changed or the time ran out. */
async function walkOnce(
  { follower, tenants, clock }: EngineDependencies,
  tenantId: string,
  of: { readonly question: Question; readonly deadlineMs?: number },
): Promise<Answered<readonly string[]> | undefined> {
  const entry = tenants.loaded(tenantId);
  if (entry === undefined) {
    await tenants.get(tenantId);
    return undefined;
  }
  const { version } = entry;
  const { position } = follower;
  const walk = entry.index.listObjects(of.question);
  while (entry.version === version) {
    const done = slice(walk, () => clock.monotonicMs());
    if (done !== undefined) return { value: done.value, position };
    if (of.deadlineMs !== undefined && clock.monotonicMs() > of.deadlineMs) return undefined;
    await nextTurn();
  }
  return undefined;
}

/** Waits until the index is fresh enough and the tenant is loaded, then evaluates in one tick. */
async function ask<T>(
  { follower, tenants, maxStalenessMs }: EngineDependencies,
  of: { readonly tenantId: string; readonly atLeast: bigint | undefined },
  evaluate: (index: TupleIndex) => T,
): Promise<Answered<T>> {
  let floor = follower.floor(of.tenantId);
  if (of.atLeast !== undefined && floor < of.atLeast) floor = of.atLeast;
  if (follower.position < floor && !(await follower.reached(floor, WAIT_MS))) {
    return { unanswered: 'not_caught_up' };
  }
  if (follower.staleMs > maxStalenessMs && !(await follower.isFresh(maxStalenessMs, WAIT_MS))) {
    return { unanswered: 'not_caught_up' };
  }
  for (let tries = 1; tries <= LOADS_MAX; tries++) {
    const entry = tenants.loaded(of.tenantId);
    if (entry !== undefined) return evaluated(() => evaluate(entry.index), follower.position);
    // The loop then looks it up again: an index may be evicted before the requests that waited for it run.
    await tenants.get(of.tenantId);
  }
  return { unanswered: 'not_caught_up' };
}

function evaluated<T>(evaluate: () => T, position: bigint): Answered<T> {
  try {
    return { value: evaluate(), position };
  } catch (error) {
    return tooLarge(error);
  }
}

function tooLarge(error: unknown): { readonly unanswered: 'evaluation_budget_exceeded' } {
  if (error instanceof EvaluationBudgetExceeded) {
    return { unanswered: 'evaluation_budget_exceeded' };
  }
  throw error;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Limits the number of concurrent long walks, so that together they do not block all other requests. */
function longWalkTurns() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(walk: () => Promise<Answered<T>>): Promise<Answered<T>> => {
    if (running >= LONG_WALKS) {
      if (waiting.length >= LONG_WALKS_WAITING_MAX) return { unanswered: 'overloaded' };
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await walk();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
