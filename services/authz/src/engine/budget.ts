/** What one question may cost: tuple records looked at, and goals of a model kept in memory. */

/** Tuple records that a check or a filter may look at. */
export const RECORDS_MAX = 1_000_000;
/** Tuple records that a list may look at. */
export const LIST_RECORDS_MAX = 10_000_000;
/**
 * Goals of a tenant's own model that one question may keep in memory, with those that they depend on: some
 * 500 bytes each.
 */
export const LIVE_GOALS_MAX = 100_000;
/** Records between two pauses of a walk. */
export const PAUSE_RECORDS = 2_048;

/** A question whose answer is sought with pauses, at which other requests may go on. */
export type Walk<T> = Generator<void, T>;

/** The question was too large to be answered; the caller answers 503 `evaluation_budget_exceeded`. */
export class EvaluationBudgetExceeded extends Error {
  override readonly name = 'EvaluationBudgetExceeded';
}

/** Counts the tuple records looked at for one request, and what it keeps in memory. */
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

  /** True once so many records were looked at that the walk has to pause; asking starts the next stretch. */
  pauseIsDue(): boolean {
    if (this.#left > this.#pauseAt) return false;
    this.#pauseAt = this.#left - PAUSE_RECORDS;
    return true;
  }
}
