/**
 * Runs the walks of all tenants on one thread. Short walks run at once; long ones run in slices, in turns between
 * tenants.
 */
import type { Clock, FairQueueForm } from '@cardea/runtime';
import { newScratch } from './closure.ts';
import { atOnce, type Slices, slices } from './in-slices.ts';
import type { Run, Walk } from './tuple-index.ts';
import { type Turns, turns } from './turns.ts';
import type { Work } from './work.ts';

/** Walks that take longer than a slice. Each keeps its results in memory. One tenant has at most one of them. */
const LONG_WALKS: FairQueueForm = {
  places: 4,
  perFreePlace: 1 / 3,
  waitingMax: 64,
  waitMaxMs: 10_000,
};

/** Too many questions are waiting, or this one has waited too long. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

export type Evaluations = {
  readonly slices: Slices;
  readonly longWalks: Turns;
  readonly monotonicMs: () => number;
};

export const evaluationsOf = (
  clock: Pick<Clock, 'after' | 'monotonicMs'>,
  form: FairQueueForm = LONG_WALKS,
): Evaluations => {
  const monotonicMs = () => clock.monotonicMs();
  return { slices: slices(monotonicMs), longWalks: turns(form, clock), monotonicMs };
};

/** Runs a walk over an unchanged index. `start` is called again if the first walk turned out to be long. */
export async function evaluate<T>(
  { slices: inSlices, longWalks, monotonicMs }: Evaluations,
  work: Work,
  of: {
    readonly run: (scratch: ReturnType<typeof newScratch>) => Run;
    readonly start: (run: Run) => Walk<T>;
  },
): Promise<T> {
  work.expectClient();
  const walk = () => of.start(of.run(newScratch()));
  const short = atOnce(walk(), monotonicMs);
  if (short !== undefined) return short.value;
  const answer = await longWalks(work, async () => ({ value: await inSlices(work, walk()) }));
  if (answer === 'overloaded') throw new Overloaded();
  return answer.value;
}
