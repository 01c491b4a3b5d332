/** Argon2id, computed outside the main thread (`@node-rs/argon2`). */
import { hash, parseOptions, verify } from '@node-rs/argon2';

/** The password hash function itself, without limits of concurrency and without rules for passwords. */
export type PasswordFunction = {
  /** A PHC string with the current parameters. */
  readonly hash: (password: string) => Promise<string>;
  /** Also false for a malformed hash or excessive parameters; never throws for one. */
  readonly verify: (phc: string, password: string) => Promise<boolean>;
  /** Whether {@link verify} could find it right: its form is known, and its cost moderate. */
  readonly isKnown: (phc: string) => boolean;
  readonly isOutdated: (phc: string) => boolean;
};

const ARGON2ID = 2;
const PARALLELISM = 1;
/** A stored hash that needs more memory is not ours, and verifying it would be an attack. */
const MEMORY_MAX_KIB = 131_072;
const TIME_MAX = 10;
const PARALLELISM_MAX = 4;

export type Argon2Cost = { readonly memoryKib: number; readonly time: number };

export function argon2({ memoryKib, time }: Argon2Cost): PasswordFunction {
  const options = {
    algorithm: ARGON2ID,
    memoryCost: memoryKib,
    timeCost: time,
    parallelism: PARALLELISM,
    outputLen: 32,
  };
  return {
    hash: (password) => hash(password, options),
    isKnown,
    verify: async (phc, password) => {
      if (!isKnown(phc)) return false;
      try {
        return await verify(phc, password);
      } catch {
        return false; // the library throws if it cannot parse the hash
      }
    },
    isOutdated: (phc) => {
      const cost = costOf(phc);
      return cost?.memoryCost !== memoryKib || cost.timeCost !== time;
    },
  };
}

function isKnown(phc: string): boolean {
  const cost = costOf(phc);
  return cost !== undefined && isModerate(cost);
}

const isModerate = (cost: NonNullable<ReturnType<typeof costOf>>) =>
  cost.memoryCost <= MEMORY_MAX_KIB &&
  cost.timeCost <= TIME_MAX &&
  cost.parallelism <= PARALLELISM_MAX;

function costOf(phc: string) {
  try {
    return parseOptions(phc);
  } catch {
    return undefined;
  }
}
