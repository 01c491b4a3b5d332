/** An answer with the position that it reflects, or the reason why there is none. */
import { ModelChanged } from '../adapters/rows-of-model.ts';
import { Overloaded } from '../engine/evaluations.ts';
import { UnknownRelation } from '../engine/model-index.ts';
import { EvaluationBudgetExceeded } from '../engine/tuple-index.ts';
import type { Turns } from '../engine/turns.ts';
import { ClientGone, type Work } from '../engine/work.ts';

export const TOO_LARGE = 'evaluation_budget_exceeded';

export type Unanswered =
  | 'evaluation_budget_exceeded'
  | 'not_caught_up'
  | 'overloaded'
  /** The relation exists neither in the tenant's model nor, without a model, among the seven. */
  | 'unknown_relation';
/** The answer with the log position that it reflects, or why there is none now. */
export type Answered<T> = { readonly value: T; readonly position: bigint } | NotAnswered;
type NotAnswered = {
  readonly unanswered: Unanswered;
  /** If there were several questions, the index of the one that names an unknown relation. */
  readonly at?: number;
};

/** Waits for the tenant's turn and then evaluates the question. */
export async function answeredInTurn<T>(
  take: Turns,
  work: Work,
  ask: () => Promise<Answered<T>>,
): Promise<Answered<T>> {
  try {
    const answer = await take(work, ask);
    return answer === 'overloaded' ? { unanswered: answer } : answer;
  } catch (error) {
    return unansweredBy(error);
  }
}

export function unansweredBy(error: unknown): NotAnswered {
  if (error instanceof UnknownRelation) return { unanswered: 'unknown_relation', at: error.at };
  // The client has disconnected, so no answer is needed.
  if (error instanceof Overloaded || error instanceof ClientGone)
    return { unanswered: 'overloaded' };
  if (error instanceof ModelChanged) return { unanswered: 'not_caught_up' };
  if (error instanceof EvaluationBudgetExceeded) return { unanswered: TOO_LARGE };
  throw error;
}
