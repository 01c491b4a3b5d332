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
/** A result that also has the tuples of the path that allows it, or the near miss if there is one. */
export type Explained = Checked & {
  readonly path?: readonly Fields[];
  readonly held?: readonly Fields[];
};

/** The resources of one or more questions of one request. */
export type Run = {
  readonly budget: Budget;
  /** The buffers. A walk that pauses has its own, since other questions run in between. */
  readonly scratch: Scratch;
};

/**
 * The tuples of one tenant and the answers that follow from them (`docs/contract.md` 4.3). It is pure: its owner
 * applies the tenant's events in log order, because reasons use the order of writes as age. A question is a walk with
 * pauses, during which the index must not change. It throws {@link EvaluationBudgetExceeded} rather than give a wrong
 * answer.
 */
export interface TupleIndex {
  /** The number of tuples. */
  readonly size: number;
  /** Whether it uses much more memory than its tuples need and should be read again. */
  readonly isWorn: boolean;
  /** Repeating a write or a delete changes nothing. */
  write(tuple: Fields): void;
  delete(tuple: Fields): void;
  /** Set if the index cannot be saved as a file. `save` then throws. */
  readonly hasNoFile?: true;
  /** The whole contents, in the form that `savedTupleIndex` reads; valid until the next change. */
  save(): SavedGraph;

  /** A run without pauses. By default it uses the buffers that all such runs share. */
  run(scratch?: Scratch): Run;
  /** A run with the larger budget that lists may use. */
  listRun(scratch?: Scratch): Run;
  /** Returns only whether it is allowed. */
  allows(fields: Fields, run?: Run): Walk<boolean>;
  /** `reason` is the shortest, oldest path. If denied, it is the strongest insufficient relation. */
  check(fields: Fields, run?: Run): Walk<Checked>;
  explain(fields: Fields, run?: Run): Walk<Explained>;
  /** For each id, in order, whether its check is allowed. */
  filter(question: Question, objectIds: readonly string[], run?: Run): Walk<readonly boolean[]>;
  /** All ids for which the check is allowed, once each, ascending by UTF-8 bytes. */
  listObjects(question: Question, run?: Run): Walk<readonly string[]>;
  listUsers(question: UsersQuestion, run?: Run): Walk<ListedUsers>;
}

/** Runs that do not pause never interleave, so all tenants' indexes share these buffers. */
const SHARED_SCRATCH = newScratch();
const [FIRST = 0, SECOND = 0] = crypto.getRandomValues(new Uint32Array(2));
const SEED: Seed = [FIRST, SECOND];

/** Tuple records that one question may read, and goals of a model that it may keep in memory. */
export type Limits = {
  readonly recordsMax: number;
  readonly listRecordsMax: number;
  readonly liveGoalsMax?: number;
};
const LIMITS: Limits = { recordsMax: RECORDS_MAX, listRecordsMax: LIST_RECORDS_MAX };

export const newTupleIndex = (limits: Limits = LIMITS): TupleIndex =>
  indexOf(new TupleGraph(SEED), limits);

/** An index from its saved form. It takes ownership of the arrays. */
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
