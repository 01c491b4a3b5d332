/** Ids and randomness that a test can predict: counted, or made from a seed that it prints. */
import { createHash } from 'node:crypto';
import type { Ids, Random } from '@cardea/runtime';

/** Returns `00000000-0000-7000-8000-000000000001`, `…002` and so on, which pass every UUID check and are readable. */
export function countedIds(start = 1): Ids {
  let next = start;
  return { next: () => numberedId(next++) };
}

export const numberedId = (number: number): string =>
  `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;

/** The same seed gives the same bytes, in the order in which they are drawn. */
export function seededRandom(seed = 'cardea'): Random {
  let block = 0;
  return {
    bytes: (length) => {
      const parts: Buffer[] = [];
      for (let filled = 0; filled < length; filled += 32) {
        parts.push(createHash('sha256').update(`${seed}:${block++}`).digest());
      }
      return Buffer.concat(parts).subarray(0, length);
    },
  };
}
