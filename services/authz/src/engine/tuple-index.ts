import type { Fields } from '../relations/relation.ts';
import { Budget, LIST_RECORDS_MAX, RECORDS_MAX, type Walk } from './budget.ts';
import { check, type Found, pathOf } from './check.ts';
import { newScratch, type Scratch } from './closure.ts';
import { filter, type Question } from './filter.ts';
import type { Seed } from './id-arena.ts';
import { listObjects } from './list-objects.ts';
import { type ListedUsers, listUsers, type UsersQuestion } from './list-users.ts';
import { wordNearMiss, wordPath } from './reason.ts';
import { type SavedGraph, TupleGraph } from './tuple-graph.ts';

export { type Budget, EvaluationBudgetExceeded, type Walk } from './budget.ts';
export type { Question } from './filter.ts';
export type { ListedUsers, UsersQuestion } from './list-users.ts';
export type { SavedGraph } from './tuple-graph.ts';

export type Checked = { readonly allowed: boolean; readonly reason?: string };
/** Returns also the tuples of the path that allows it, or the near miss where there is one. */
export type Explained = Checked & {
  readonly path?: readonly Fields[];
  readonly held?: readonly Fields[];
};

/** For one or more questions of one request. */
export type Run = {
  readonly budget: Budget;
  /** A walk that pauses has one of its own, since other questions are asked meanwhile. */
  readonly scratch: Scratch;
};

/**
 * The tuples of one tenant and the answers that follow from them (`docs/contract.md` 4.3). Pure: its owner
 * applies the tenant's events in log order, because reasons take the order of writes as age. A question is
 * a walk that pauses now and then, at which the index must not change; it throws
 * {@link EvaluationBudgetExceeded} rather than answer wrongly.
 */
export interface TupleIndex {
  /** Tuples in it. */
  readonly size: number;
  /** True where it takes much more memory than its tuples need, and should be read anew. */
  readonly isWorn: boolean;
  /** Repeating either one changes nothing. */
  write(tuple: Fields): void;
  delete(tuple: Fields): void;
  /** Is not kept as a file: `save` throws. */
  readonly hasNoFile?: true;
  /** All that is in it, as `savedTupleIndex` takes it; right until the next change. */
  save(): SavedGraph;

  /** Without pauses; `scratch` is that of all runs that never pause, unless given. */
  run(scratch?: Scratch): Run;
  /** With the larger budget of a question about all that there is. */
  listRun(scratch?: Scratch): Run;
  /** Only whether it is allowed. */
  allows(fields: Fields, run?: Run): Walk<boolean>;
  /** `reason`: the shortest, oldest path; or, if denied, the strongest relation that was not enough. */
  check(fields: Fields, run?: Run): Walk<Checked>;
  explain(fields: Fields, run?: Run): Walk<Explained>;
  /** For each id, in order, whether its check is allowed. */
  filter(question: Question, objectIds: readonly string[], run?: Run): Walk<readonly boolean[]>;
  /** All ids for which the check is allowed, once each, ascending by UTF-8 bytes. */
  listObjects(question: Question, run?: Run): Walk<readonly string[]>;
  listUsers(question: UsersQuestion, run?: Run): Walk<ListedUsers>;
}

/** Runs that do not pause never interleave, so all tenants' indexes share this. */
const SHARED_SCRATCH = newScratch();
const [FIRST = 0, SECOND = 0] = crypto.getRandomValues(new Uint32Array(2));
const SEED: Seed = [FIRST, SECOND];

/** Tuple records that one question may look at, and goals of a model that it may keep in memory. */
export type Limits = {
  readonly recordsMax: number;
  readonly listRecordsMax: number;
  readonly liveGoalsMax?: number;
};
const LIMITS: Limits = { recordsMax: RECORDS_MAX, listRecordsMax: LIST_RECORDS_MAX };

export const newTupleIndex = (limits: Limits = LIMITS): TupleIndex =>
  indexOf(new TupleGraph(SEED), limits);

/** The index that was saved; its arrays are the new one's from now on. */
export const savedTupleIndex = (saved: SavedGraph): TupleIndex =>
  indexOf(new TupleGraph(saved.state.seed, saved), LIMITS);

function indexOf(graph: TupleGraph, { recordsMax, listRecordsMax }: Limits): TupleIndex {
  const newRun = (scratch = SHARED_SCRATCH): Run => ({ scratch, budget: new Budget(recordsMax) });
  const newListRun = (scratch = SHARED_SCRATCH): Run => ({
    scratch,
    budget: new Budget(listRecordsMax),
  });
  return {
    get size() {
      return graph.size;
    },
    get isWorn() {
      return graph.isWorn;
    },
    write: (tuple) => graph.write(tuple),
    delete: (tuple) => graph.delete(tuple),
    save: () => graph.save(),
    run: newRun,
    listRun: newListRun,
    allows: (fields, run = newRun()) => check({ graph, ...run, answer: isAllowed }, fields),
    check: (fields, { scratch, budget } = newRun()) => {
      const answer = (found: Found) => worded(graph, found, { scratch, fields });
      return check({ graph, scratch, budget, answer }, fields);
    },
    explain: (fields, { scratch, budget } = newRun()) => {
      const answer = (found: Found) => explained(graph, found, { scratch, fields });
      return check({ graph, scratch, budget, answer }, fields);
    },
    filter: (question, objectIds, run = newRun()) => filter({ graph, ...run }, question, objectIds),
    listObjects: (question, run = newListRun()) => listObjects(graph, question, run),
    listUsers: (question, run = newListRun()) => listUsers(graph, question, run),
  };
}

const isAllowed = ({ allowed }: Found): boolean => allowed;

function worded(
  graph: TupleGraph,
  found: Found,
  { scratch, fields }: { readonly scratch: Scratch; readonly fields: Fields },
): Checked {
  const { allowed, grant } = found;
  if (grant === undefined) return { allowed };
  return {
    allowed,
    reason: allowed
      ? wordPath(graph, { path: pathOf(scratch, grant), grant }, fields)
      : wordNearMiss(graph, grant, fields),
  };
}

function explained(
  graph: TupleGraph,
  found: Found,
  { scratch, fields }: { readonly scratch: Scratch; readonly fields: Fields },
): Explained {
  const checked = worded(graph, found, { scratch, fields });
  const { allowed, grant } = found;
  if (grant === undefined) return checked;
  return allowed
    ? { ...checked, path: pathOf(scratch, grant).map((tuple) => graph.fieldsOf(tuple)) }
    : { ...checked, held: [graph.fieldsOf(grant)] };
}

/** Runs a walk to its end without pausing. */
export function finished<T>(walk: Walk<T>): T {
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}
