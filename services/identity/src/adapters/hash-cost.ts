/**
 * What it costs to verify a password hash that was made elsewhere, and how much is accepted. An import refuses
 * what costs more, and a stored hash that costs more is never right: verifying it would be an attack.
 */

export type HashCost = {
  /** Milliseconds on one core, roughly; hashes of one tenant are compared by it. */
  readonly workMs: number;
  /** A hash with the same parameters that no password fits. */
  readonly sample: string;
};

export const BCRYPT_COST_MAX = 14;
export const PBKDF2_ITERATIONS_MAX = 2_000_000;
/** N times r times p. */
export const SCRYPT_WORK_MAX = 2 ** 21;
/** KiB times passes. */
export const ARGON2_WORK_MAX_KIB = 524_288;
export const ARGON2_PARALLELISM_MAX = 16;
/** How much memory one hash may take, whichever function made it. */
export const HASH_MEMORY_MAX_BYTES = 256 * 1024 * 1024;

// Measured on one core of a server of 2025.
export const BCRYPT_MS_PER_ROUND = 56 / 2 ** 10;
export const PBKDF2_MS_PER_ITERATION = 0.00015;
export const SCRYPT_MS_PER_WORK = 1_000 / 2 ** 21;
export const ARGON2_MS_PER_KIB = 11 / 38_912;
