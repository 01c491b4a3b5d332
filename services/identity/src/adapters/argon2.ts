/** Argon2id, computed outside the main thread (`@node-rs/argon2`). */
import { hash, parseOptions, verify } from '@node-rs/argon2';
import {
  ARGON2_MS_PER_KIB,
  ARGON2_PARALLELISM_MAX,
  ARGON2_WORK_MAX_KIB,
  HASH_MEMORY_MAX_BYTES,
  type HashCost,
} from './hash-cost.ts';

/** Only the password hash function. Callers limit concurrency and check password rules. */
export type PasswordFunction = {
  /** Returns a PHC string with the current parameters. */
  readonly hash: (password: string) => Promise<string>;
  /** Returns false for a malformed hash and for excessive parameters; never throws for one. */
  readonly verify: (phc: string, password: string) => Promise<boolean>;
  /** Returns undefined if the format is unknown. */
  readonly costOf: (phc: string) => HashCost | 'too_dear' | undefined;
  readonly isOutdated: (phc: string) => boolean;
};

const ARGON2ID = 2;
const PARALLELISM = 1;

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
    costOf: argon2Cost,
    verify: async (phc, password) => {
      if (typeof argon2Cost(phc) !== 'object') return false;
      try {
        return await verify(phc, password);
      } catch {
        return false; // The library throws if it cannot parse the hash.
      }
    },
    isOutdated: (phc) => {
      const cost = parsed(phc);
      return (
        cost?.memoryCost !== memoryKib ||
        cost.timeCost !== time ||
        cost.parallelism !== PARALLELISM ||
        cost.algorithm !== ARGON2ID
      );
    },
  };
}

function argon2Cost(phc: string): HashCost | 'too_dear' | undefined {
  const cost = parsed(phc);
  if (cost === undefined) return undefined;
  const { memoryCost: kib, timeCost, parallelism } = cost;
  const isTooDear =
    kib * timeCost > ARGON2_WORK_MAX_KIB ||
    kib * KIB > HASH_MEMORY_MAX_BYTES ||
    parallelism > ARGON2_PARALLELISM_MAX;
  if (isTooDear) return 'too_dear';
  const sample = `$argon2id$v=19$m=${kib},t=${timeCost},p=${parallelism}$${SALT}$${DIGEST}`;
  return { workMs: kib * timeCost * ARGON2_MS_PER_KIB, sample };
}

const KIB = 1024;
const SALT = 'c2FsdCBvZiBubyBoYXNo';
const DIGEST = Buffer.alloc(32).toString('base64').replace('=', '');

function parsed(phc: string) {
  try {
    return parseOptions(phc);
  } catch {
    return undefined;
  }
}
