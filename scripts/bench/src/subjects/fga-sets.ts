/** The sets of tuples with which checks are compared, and the questions about them. */
import { uuidFrom } from '@cardea/runtime';
import { type ReferenceSet, type ReferenceTuple, referenceSet } from '@cardea/testing';

export const FGA_SETS = ['nested', 'direct'] as const;
export type FgaSetName = (typeof FGA_SETS)[number];

/** The factor by which the set is smaller than a million tuples. */
const SMALLER = 5;
const SMALLER_SMOKE = 200;

/** `nested`: groups in groups, folders in folders. `direct`: each tuple grants a user a document. */
export function fgaSet(name: FgaSetName, smoke: boolean): ReferenceSet {
  const smaller = smoke ? SMALLER_SMOKE : SMALLER;
  return name === 'nested' ? referenceSet(smaller) : directSet(1_000_000 / smaller);
}

function directSet(tuples: number): ReferenceSet {
  const grant = (user: number, document: number) =>
    ({
      user_type: 'user',
      user_id: uuidFrom('user', String(user)),
      relation: 'viewer',
      object_type: 'document',
      object_id: uuidFrom('document', String(document)),
    }) as const;
  return {
    *tuples() {
      for (let at = 0; at < tuples; at++) yield grant(userOf(at, tuples), at);
    },
    question(at) {
      const document = (at * 7) % tuples;
      // Every second question names a user without that grant.
      return grant(userOf(at % 2 === 0 ? document : document + 1, tuples), document);
    },
  };
}

const USERS_SHARE = 10;
const userOf = (document: number, tuples: number): number =>
  (document * 31) % Math.ceil(tuples / USERS_SHARE);

/** A tuple that no set has, to be written and deleted while checks are measured. */
export const freshTuple = (at: number): ReferenceTuple => ({
  user_type: 'user',
  user_id: uuidFrom('fresh user', String(at)),
  relation: 'viewer',
  object_type: 'document',
  object_id: uuidFrom('fresh document', String(at)),
});

/** Draws numbers below `count`, the n-th one 1/n as often as the first. They are the same on every machine. */
export function zipf(count: number, draws: number): readonly number[] {
  const sums: number[] = [];
  for (let at = 0, sum = 0; at < count; at++) {
    sum += 1 / (at + 1);
    sums.push(sum);
  }
  const whole = sums.at(-1) ?? 1;
  return Array.from({ length: draws }, (_, draw) => {
    const point = (((draw + 1) * 0.618_033_988_75) % 1) * whole;
    return sums.findIndex((sum) => sum > point);
  });
}
