/** An answer with the position that it reflects, or why there is none. */
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
  /** The tenant's model has no such relation; or it is none of the seven, where the tenant has no model. */
  | 'unknown_relation';
/** The answer with the log position that it reflects, or why none can be given now. */
export type Answered<T> = { readonly value: T; readonly position: bigint } | NotAnswered;
type NotAnswered = {
  readonly unanswered: Unanswered;
  /** The number of the question, of several, that names an unknown relation. */
  readonly at?: number;
};

/** Waits for the tenant's turn, and asks then. */
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
