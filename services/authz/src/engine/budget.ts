/** Limits for one question: the tuple records that it may read, and the goals of a model that it may keep in memory. */

/** Tuple records that a check or a filter may read. */
export const RECORDS_MAX = 1_000_000;
/** Tuple records that a list may read. */
export const LIST_RECORDS_MAX = 10_000_000;
/**
 * Goals of a tenant's own model that one question may keep in memory, with their dependencies. Each takes about 500
 * bytes.
 */
export const LIVE_GOALS_MAX = 100_000;
/** Records between two pauses of a walk. */
export const PAUSE_RECORDS = 2_048;

/** A walk that computes an answer with pauses, in which other requests can run. */
export type Walk<T> = Generator<void, T>;

/** The question was too large to be answered. The caller responds 503 `evaluation_budget_exceeded`. */
export class EvaluationBudgetExceeded extends Error {
  override readonly name = 'EvaluationBudgetExceeded';
}

/** Counts the tuple records that one request has read, and what it keeps in memory. */
export class Budget {
  #left: number;
  #pauseAt: number;
  #live = 0;
  readonly #liveMax: number;

  constructor(records: number, liveMax = LIVE_GOALS_MAX) {
    this.#left = records;
    this.#pauseAt = records - PAUSE_RECORDS;
    this.#liveMax = liveMax;
  }

  /** Goals in memory. */
  get live(): number {
    return this.#live;
  }

  keep(goals = 1): void {
    this.#live += goals;
    if (this.#live > this.#liveMax) throw new EvaluationBudgetExceeded();
  }

  release(goals: number): void {
    this.#live -= goals;
  }

  spend(records = 1): void {
    this.#left -= records;
    if (this.#left < 0) throw new EvaluationBudgetExceeded();
  }

  /** Whether the walk has to pause after so many records. Calling it starts the next count. */
  pauseIsDue(): boolean {
    if (this.#left > this.#pauseAt) return false;
    this.#pauseAt = this.#left - PAUSE_RECORDS;
    return true;
  }
}
