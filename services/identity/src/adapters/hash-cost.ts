/**
 * The cost of verifying an imported password hash, and the accepted maximum. An import refuses hashes above it. A
 * stored hash above it never matches, because verifying it would allow a denial of service.
 */

export type HashCost = {
  /** Approximate ms on one core. Hashes of one tenant are compared by it. */
  readonly workMs: number;
  /** A hash with the same parameters that no password matches. */
  readonly sample: string;
};

export const BCRYPT_COST_MAX = 14;
export const PBKDF2_ITERATIONS_MAX = 2_000_000;
/** The maximum product of N, r and p. */
export const SCRYPT_WORK_MAX = 2 ** 21;
/** The maximum product of memory in KiB and passes. */
export const ARGON2_WORK_MAX_KIB = 524_288;
export const ARGON2_PARALLELISM_MAX = 16;
/** The memory limit of one hash, for any function. */
export const HASH_MEMORY_MAX_BYTES = 256 * 1024 * 1024;

// Measured on one core of a server of 2025.
export const BCRYPT_MS_PER_ROUND = 56 / 2 ** 10;
export const PBKDF2_MS_PER_ITERATION = 0.00015;
export const SCRYPT_MS_PER_WORK = 1_000 / 2 ** 21;
export const ARGON2_MS_PER_KIB = 11 / 38_912;
