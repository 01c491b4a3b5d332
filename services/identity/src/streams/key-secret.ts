/**
 * The stored secret of an issued key: its hash and, during the grace period after a rotation, the previous hash.
 * Rotations are numbered, and the number invalidates what other processes have cached.
 */
import { sameBytes, secretHash } from '@cardea/crypto';

export type KeySecret = {
  readonly hash: string;
  readonly previousHash: string | null;
  readonly previousUntil: string | null;
  readonly rotations: number;
};

export const firstSecret = (hash: string): KeySecret => ({
  hash,
  previousHash: null,
  previousUntil: null,
  rotations: 0,
});

/** The form in events. */
export type RotatedSecret = {
  readonly hash: string;
  readonly previous_hash: string | null;
  readonly previous_until: string | null;
};

const MS = 1_000;

/** Without a grace period the old secret is invalid at once. */
export function rotatedSecret(
  { hash }: KeySecret,
  of: { readonly hash: string; readonly graceSeconds: number; readonly now: Date },
): RotatedSecret {
  if (of.graceSeconds === 0) return { hash: of.hash, previous_hash: null, previous_until: null };
  const until = new Date(of.now.getTime() + of.graceSeconds * MS);
  return { hash: of.hash, previous_hash: hash, previous_until: until.toISOString() };
}

export const afterRotation = (before: KeySecret, rotated: RotatedSecret): KeySecret => ({
  hash: rotated.hash,
  previousHash: rotated.previous_hash,
  previousUntil: rotated.previous_until,
  rotations: before.rotations + 1,
});

export type Recognised = {
  /** Identifies this state of the secret; a rotation invalidates it. */
  readonly stamp: string;
  /** The time when the secret itself expires. Null for the current one. */
  readonly until: Date | null;
};

/** Whether it is the key's secret, or the previous one within its grace period. */
export function recognise(secret: string, key: KeySecret, now: Date): Recognised | undefined {
  const hash = secretHash(secret);
  const isCurrent = sameBytes(hash, key.hash);
  // Both are always compared, so that the time does not show which one matched.
  const isPrevious = sameBytes(hash, key.previousHash ?? '');
  if (isCurrent) return { stamp: stampOf(key.rotations, 'current'), until: null };
  if (!isPrevious || key.previousUntil === null) return undefined;
  const until = new Date(key.previousUntil);
  return now < until ? { stamp: stampOf(key.rotations, 'previous'), until } : undefined;
}

/** The stamps that a rotation invalidates. Keys that were recognised under them have to be verified again. */
export const stampsEndedBy = (id: string, { rotations }: KeySecret): readonly string[] => [
  `${id}.${stampOf(rotations - 1, 'current')}`,
  `${id}.${stampOf(rotations - 1, 'previous')}`,
];

const stampOf = (rotation: number, which: 'current' | 'previous') => `${rotation}.${which}`;
