import { type Clock, type FairQueueForm, metrics } from '@cardea/runtime';
import { newScratch } from '../engine/closure.ts';
import type { Evaluations } from '../engine/evaluations.ts';
import { atOnce } from '../engine/in-slices.ts';
import {
  type CheckRequest,
  checkEach,
  checkFor,
  explainFor,
  type FilterRequest,
  filterFor,
  listObjectsFor,
  listUsersFor,
  type ObjectsRequest,
} from '../engine/on-behalf-of.ts';
import type { TenantIndexes } from '../engine/tenant-indexes.ts';
import type {
  Checked,
  Explained,
  ListedUsers,
  Run,
  TupleIndex,
  UsersQuestion,
  Walk,
} from '../engine/tuple-index.ts';
import { turns } from '../engine/turns.ts';
import type { Work } from '../engine/work.ts';
import { type Answered, answeredInTurn, TOO_LARGE, unansweredBy } from './answered.ts';
import type { Follower } from './follower.ts';

/** A promise only if something has to be waited for. */
export type Soon<T> = T | Promise<T>;

/**
 * Answers questions about a tenant's tuples. No answer is older than the last write that this process acknowledged for
 * the tenant, nor older than `atLeast`. The index in memory answers only while it is known to be fresh.
 */
export interface Engine {
  check(of: Asking, asked: CheckRequest): Soon<Answered<Checked>>;
  /** Checks all at one position and within one budget. Results that the budget did not suffice for are undefined. */
  checkAll(
    of: Asking,
    asked: readonly CheckRequest[],
  ): Soon<Answered<readonly (Checked | undefined)[]>>;
  /** Works like `check`, and also returns the tuples on which the answer depends. */
  explain(of: Asking, asked: CheckRequest): Soon<Answered<Explained>>;
  filter(of: Asking, asked: FilterRequest): Soon<Answered<readonly boolean[]>>;
  listObjects(of: Asking, asked: ObjectsRequest): Soon<Answered<readonly string[]>>;
  listUsers(of: Asking, asked: UsersQuestion): Soon<Answered<ListedUsers>>;
}

/**
 * The tenant whose tuples are queried, the cost limit, the minimum log position of the answer, and the time in question
 * if it is not now.
 */
export type Asking = {
  readonly tenantId: string;
  readonly work: Work;
  readonly atLeast: bigint | undefined;
  readonly asOf?: Date | undefined;
};

export type EngineDependencies = {
  readonly follower: Follower;
  readonly tenants: TenantIndexes;
  readonly clock: Clock;
  readonly evaluations: Evaluations;
  /**
   * Returns false while the index in memory may lack a write that another process has acknowledged; it must not answer
   * then. True is valid only in the same turn of the event loop.
   */
  readonly isFresh: () => boolean;
};

const WAIT_MS = 2_000;
/**
 * Checks and filters from the table. Each costs hundreds of times as much as one from memory, and takes a connection
 * that all kinds of requests share.
 */
const FROM_TABLE: FairQueueForm = {
  places: 8,
  perFreePlace: 1,
  waitingMax: 1_000,
  waitMaxMs: WAIT_MS,
};
/** How often a walk starts again after the index changed. During the last try the follower is paused. */
const WALKS_MAX = 3;
const HOLD_MS = 250;
/** How often a request loads a tenant whose index is evicted again before it is used. */
const LOADS_MAX = 3;

/** Answers from memory by `start`. If memory has no fresh index of the tenant, answers from the table by `read`. */
type Answering = <T>(
  of: Asking,
  start: Question<T>,
  read: () => Soon<Answered<T>>,
) => Soon<Answered<T>>;

function answering(needs: EngineDependencies): Record<'checked' | 'listed', Answering> {
  const { longWalks, monotonicMs } = needs.evaluations;
  const fromTable = turns(FROM_TABLE, needs.clock);
  const answered = <T>(
    of: Asking,
    start: Question<T>,
    elsewhere: () => Soon<Answered<T>>,
  ): Soon<Answered<T>> => {
    const complete = (short: FromMemory<{ readonly value: T } | undefined>): Soon<Answered<T>> => {
      if (short === ELSEWHERE) return elsewhere();
      if ('unanswered' in short) return short;
      const { value, position } = short;
      return value === undefined ? inTurn(of, start) : { value: value.value, position };
    };
    const asked = ask(needs, of, (index) => atOnce(start(index, false), monotonicMs));
    return asked instanceof Promise ? asked.then(complete) : complete(asked);
  };
  const inTurn = <T>({ work }: Asking, start: Question<T>): Promise<Answered<T>> =>
    answeredInTurn(longWalks, work, () => walkLong(needs, work, start));
  /** The table's own engine limits lists. */
  const listed: Answering = (of, start, read) =>
    answered(of, start, async () => {
      if (of.asOf === undefined) metrics.tableAnswers.inc();
      const answer = await read();
      // A tenant with too many tuples for the table may have an index by the time the table gives up.
      if (!('unanswered' in answer) || answer.unanswered !== TOO_LARGE) return answer;
      return needs.tenants.loaded(of.tenantId) ? answered(of, start, () => answer) : answer;
    });
  /**
   * Runs checks from the table one after another. If the tenant's index is loaded when a check's turn comes, the index
   * answers.
   */
  const checked: Answering = (of, start, read) =>
    answered(of, start, () =>
      answeredInTurn(fromTable, of.work, async () => listed(of, start, read)),
    );
  return { checked, listed };
}

/** Answers from memory. If memory has no fresh index of the tenant, `table` answers. */
export function engineOf(needs: EngineDependencies, table: Engine): Engine {
  const { checked, listed } = answering(needs);
  return {
    check: (of, asked) =>
      checked(
        of,
        (index, pauses) => checkFor(index, asked, runOf(index, pauses)),
        () => table.check(of, asked),
      ),
    checkAll: (of, asked) =>
      checked(
        of,
        (index, pauses) => checkEach(index, asked, runOf(index, pauses)),
        () => table.checkAll(of, asked),
      ),
    explain: (of, asked) =>
      checked(
        of,
        (index, pauses) => explainFor(index, asked, runOf(index, pauses)),
        () => table.explain(of, asked),
      ),
    filter: (of, asked) =>
      checked(
        of,
        (index, pauses) => filterFor(index, asked, runOf(index, pauses)),
        () => table.filter(of, asked),
      ),
    listObjects: (of, asked) =>
      listed(
        of,
        (index, pauses) => listObjectsFor(index, asked, listRunOf(index, pauses)),
        () => table.listObjects(of, asked),
      ),
    listUsers: (of, asked) =>
      listed(
        of,
        (index, pauses) => listUsersFor(index, asked, listRunOf(index, pauses)),
        () => table.listUsers(of, asked),
      ),
  };
}

const runOf = (index: TupleIndex, pauses: boolean): Run =>
  index.run(pauses ? newScratch() : undefined);
const listRunOf = (index: TupleIndex, pauses: boolean): Run =>
  index.listRun(pauses ? newScratch() : undefined);

/** Memory has no fresh index of the tenant. */
const ELSEWHERE = 'elsewhere';
type FromMemory<T> = Answered<T> | typeof ELSEWHERE;
/**
 * Answers at once, or in steps with pauses if the question takes long. A walk with pauses has its own buffers, because
 * other walks run in between.
 */
type Question<T> = (index: TupleIndex, pauses: boolean) => Walk<T>;

/** Starts again if the index changes during the walk. During the last try the follower is paused. */
async function walkLong<T>(
  needs: EngineDependencies,
  work: Work,
  start: Question<T>,
): Promise<Answered<T>> {
  for (let tries = 1; tries < WALKS_MAX; tries++) {
    const answer = await walkOnce(needs, work, { start });
    if (answer !== undefined) return answer;
  }
  const release = needs.follower.hold();
  try {
    const deadlineMs = needs.clock.monotonicMs() + HOLD_MS;
    const answer = await walkOnce(needs, work, { start, deadlineMs });
    return answer ?? { unanswered: 'overloaded' };
  } finally {
    release();
  }
}

/** Continues between other requests. Returns undefined if the index changed or the time ran out. */
async function walkOnce<T>(
  { follower, tenants, clock, evaluations }: EngineDependencies,
  work: Work,
  of: { readonly start: Question<T>; readonly deadlineMs?: number },
): Promise<Answered<T> | undefined> {
  const { tenantId } = work;
  const entry = tenants.loaded(tenantId);
  if (entry === undefined) {
    await tenants.get(tenantId);
    return undefined;
  }
  const { version } = entry;
  const { position } = follower;
  const { deadlineMs = Number.POSITIVE_INFINITY } = of;
  const mayGoOn = () => entry.version === version && clock.monotonicMs() <= deadlineMs;
  const walk = wrapped(of.start(entry.index, true));
  const done = await evaluations.slices(work, walk, mayGoOn);
  return done && { value: done.value, position };
}

/** Wraps the value, so that an undefined answer is not mistaken for none. */
function* wrapped<T>(walk: Walk<T>): Walk<{ readonly value: T }> {
  return { value: yield* walk };
}

/** Evaluates in this turn of the event loop if nothing has to be waited for, as in nearly every request. */
function ask<T>(
  needs: EngineDependencies,
  of: Asking,
  evaluate: (index: TupleIndex) => T,
): FromMemory<T> | Promise<FromMemory<T>> {
  if (of.asOf !== undefined) return ELSEWHERE;
  const { follower, tenants, isFresh } = needs;
  const floor = floorOf(needs, of);
  const entry = follower.position >= floor && isFresh() ? tenants.loaded(of.tenantId) : undefined;
  return entry === undefined
    ? askOnceReady(needs, of, evaluate)
    : evaluated(() => evaluate(entry.index), follower.position);
}

function floorOf({ follower }: EngineDependencies, { tenantId, atLeast }: Asking): bigint {
  const floor = follower.floor(tenantId);
  return atLeast !== undefined && floor < atLeast ? atLeast : floor;
}

/** Waits until the index is new enough and the tenant is loaded. */
async function askOnceReady<T>(
  needs: EngineDependencies,
  of: Asking,
  evaluate: (index: TupleIndex) => T,
): Promise<FromMemory<T>> {
  const { follower, tenants, isFresh } = needs;
  const floor = floorOf(needs, of);
  if (follower.position < floor && !(await follower.reached(floor, WAIT_MS))) {
    return { unanswered: 'not_caught_up' };
  }
  for (let tries = 1; tries <= LOADS_MAX; tries++) {
    if (!isFresh()) return ELSEWHERE;
    const entry = tenants.loaded(of.tenantId);
    if (entry !== undefined) return evaluated(() => evaluate(entry.index), follower.position);
    // The loop then looks it up again, because an index may be evicted before the requests that waited for it run.
    if ((await tenants.get(of.tenantId)) === undefined) return ELSEWHERE;
  }
  return ELSEWHERE;
}

function evaluated<T>(evaluate: () => T, position: bigint): Answered<T> {
  try {
    return { value: evaluate(), position };
  } catch (error) {
    return unansweredBy(error);
  }
}
