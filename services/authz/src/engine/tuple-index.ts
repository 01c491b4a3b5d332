import type { Fields } from '../tuples/relation.ts';
import { type Checked, check } from './check.ts';
import { LIST_RECORDS_MAX, newScratch, RECORDS_MAX } from './closure.ts';
import { filterBy, type Question } from './filter.ts';
import { listObjects } from './list-objects.ts';
import { TupleGraph } from './tuple-graph.ts';

export type { Checked } from './check.ts';
export { EvaluationBudgetExceeded } from './closure.ts';
export type { Question } from './filter.ts';

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

  /** `reason`: the shortest, oldest path; or, if denied, the strongest relation that was not enough. */
  check(fields: Fields): Checked;
  /** For each id, in order, whether its check is allowed. */
  filter(question: Question, objectIds: readonly string[]): readonly boolean[];
  /**
   * All ids for which the check is allowed, once each, ascending by UTF-8 bytes. Pauses between slices; the
   * index must not change meanwhile.
   */
  listObjects(question: Question): Generator<void, readonly string[]>;
}

/** Walks of one thread never interleave, so all tenants' indexes share one scratch. */
const scratch = newScratch();

/** Tuple records that one question may look at. */
export type Limits = { readonly recordsMax: number; readonly listRecordsMax: number };
const LIMITS: Limits = { recordsMax: RECORDS_MAX, listRecordsMax: LIST_RECORDS_MAX };

export function newTupleIndex({ recordsMax, listRecordsMax }: Limits = LIMITS): TupleIndex {
  const graph = new TupleGraph();
  return {
    get size() {
      return graph.size;
    },
    write: (tuple) => graph.write(tuple),
    delete: (tuple) => graph.delete(tuple),
    check: (fields) => check(graph, fields, scratch, recordsMax),
    filter: (question, objectIds) => objectIds.map(filterBy(graph, question, scratch, recordsMax)),
    listObjects: (question) => listObjects(graph, question, listRecordsMax),
  };
}

/** Runs a walk to its end without pausing. */
export function finished<T>(walk: Generator<void, T>): T {
  for (;;) {
    const step = walk.next();
    if (step.done) return step.value;
  }
}
