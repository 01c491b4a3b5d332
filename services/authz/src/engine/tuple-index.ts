import type { Fields } from '../tuples/relation.ts';
import { check, type Outcome } from './check.ts';
import { Budget, LIST_RECORDS_MAX, newScratch, RECORDS_MAX } from './closure.ts';
import { filterBy, type Question } from './filter.ts';
import { listObjects } from './list-objects.ts';
import { type ListedUsers, listUsers, type UsersQuestion } from './list-users.ts';
import { reasonOf } from './reason.ts';
import { TupleGraph } from './tuple-graph.ts';

export { type Budget, EvaluationBudgetExceeded } from './closure.ts';
export type { Question } from './filter.ts';
export type { ListedUsers, UsersQuestion } from './list-users.ts';

export type Checked = { readonly allowed: boolean; readonly reason?: string };
/** With the tuples of the path that allows it, or the near miss where there is one. */
export type Explained = Checked & {
  readonly path?: readonly Fields[];
  readonly held?: readonly Fields[];
};

/**
 * The tuples of one tenant and the answers that follow from them (`docs/contract.md` 4.3). Pure: its owner
 * applies the tenant's events in log order, because reasons take the order of writes as age. A question
 * throws {@link EvaluationBudgetExceeded} rather than answer wrongly.
 */
export interface TupleIndex {
  /** Tuples in it. */
  readonly size: number;
  /** Repeating either one changes nothing. */
  write(tuple: Fields): void;
  delete(tuple: Fields): void;

  /** For several questions of one request; without it each has its own. */
  budget(): Budget;
  /** `reason`: the shortest, oldest path; or, if denied, the strongest relation that was not enough. */
  check(fields: Fields, budget?: Budget): Checked;
  explain(fields: Fields, budget?: Budget): Explained;
  /** For each id, in order, whether its check is allowed. */
  filter(question: Question, objectIds: readonly string[], budget?: Budget): readonly boolean[];
  /**
   * All ids for which the check is allowed, once each, ascending by UTF-8 bytes. Pauses between slices; the
   * index must not change meanwhile.
   */
  listObjects(question: Question): Generator<void, readonly string[]>;
  /** Pauses as `listObjects` does. */
  listUsers(question: UsersQuestion): Generator<void, ListedUsers>;
}

/** Walks of one thread never interleave, so all tenants' indexes share one scratch. */
const scratch = newScratch();

/** Tuple records that one question may look at. */
export type Limits = { readonly recordsMax: number; readonly listRecordsMax: number };
const LIMITS: Limits = { recordsMax: RECORDS_MAX, listRecordsMax: LIST_RECORDS_MAX };

export function newTupleIndex({ recordsMax, listRecordsMax }: Limits = LIMITS): TupleIndex {
  const graph = new TupleGraph();
  const newBudget = () => new Budget(recordsMax);
  const newListBudget = () => new Budget(listRecordsMax);
  return {
    get size() {
      return graph.size;
    },
    write: (tuple) => graph.write(tuple),
    delete: (tuple) => graph.delete(tuple),
    budget: newBudget,
    check: (fields, budget = newBudget()) =>
      worded(graph, check(graph, fields, scratch, budget), fields),
    explain: (fields, budget = newBudget()) => {
      const outcome = check(graph, fields, scratch, budget);
      return { ...worded(graph, outcome, fields), ...tuplesOf(graph, outcome) };
    },
    filter: (question, objectIds, budget = newBudget()) =>
      objectIds.map(filterBy(graph, question, scratch, budget)),
    listObjects: (question) => listObjects(graph, question, newListBudget()),
    listUsers: (question) => listUsers(graph, question, newListBudget()),
  };
}

function worded(graph: TupleGraph, outcome: Outcome, asked: Fields): Checked {
  const { allowed } = outcome;
  const reason = reasonOf(graph, outcome, asked);
  return reason === undefined ? { allowed } : { allowed, reason };
}

function tuplesOf(graph: TupleGraph, outcome: Outcome): Pick<Explained, 'path' | 'held'> {
  if (outcome.allowed) {
    return { path: outcome.path.records.map((record) => graph.fieldsOf(record)) };
  }
  return outcome.nearMiss === undefined ? {} : { held: [graph.fieldsOf(outcome.nearMiss)] };
}

/** Runs a walk to its end without pausing. */
export function finished<T>(walk: Generator<void, T>): T {
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}
