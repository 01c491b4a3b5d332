/** Work whose refusals are counted: who was refused too often waits, and who is right never does. */
import type { Allowed, Charge, RateLimits } from '@cardea/service';
import { tooOften } from './answers.ts';

export async function countingRefusals<Answer extends object>(
  limits: Pick<RateLimits, 'attempt'>,
  charges: readonly Charge[],
  work: () => Promise<Answer>,
): Promise<Answer | ReturnType<typeof tooOften>> {
  const tried = await limits.attempt(charges, work, (answer) => !('refused' in answer));
  return tried.allowed ? tried.answer : tooOften(tried);
}

/** Where the work does not fit into one function: the charge ends with its answer. */
export const settle = (taken: Allowed, answer: object): Promise<void> =>
  'refused' in answer ? taken.keep() : taken.giveBack();
