/** Random times and targets from the seed of the run, which a failure prints. */
import { seededRandom, testForm } from '@cardea/testing';
import { onTestFailed } from 'vitest';

const DRAW_BYTES = 4;
const DRAWS = 2 ** (8 * DRAW_BYTES);

export type Chance = {
  /** A time of at least `min` and less than the sum of both. */
  ms(min: number, spread: number): number;
  oneOf<T>(all: readonly T[]): T;
};

/** Call it in the test that draws. */
export function chance(): Chance {
  const { seed } = testForm;
  onTestFailed(() => console.error(`played with --seed ${seed}`));
  const random = seededRandom(String(seed));
  const draw = (): number => random.bytes(DRAW_BYTES).readUInt32BE() / DRAWS;
  return {
    ms: (min, spread) => min + draw() * spread,
    oneOf: <T>(all: readonly T[]) => all[Math.floor(draw() * all.length)] as T,
  };
}
