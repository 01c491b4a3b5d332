/** Work whose refusals are counted. A caller with too many refusals has to wait; a caller who succeeds never does. */
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

/** Settles the charge with the response, for work that does not fit into one function. */
export const settle = (taken: Allowed, answer: object): Promise<void> =>
  'refused' in answer ? taken.keep() : taken.giveBack();
