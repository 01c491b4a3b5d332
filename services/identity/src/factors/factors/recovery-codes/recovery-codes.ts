/** Recovery codes for a person who has lost the other factors: ten codes, each of which works once. */
import { crockford, readCrockford } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { Random } from '@cardea/runtime';
import { hasSecondFactor, type User, type UserEvent } from '../../../accounts/accounts.module.ts';
import type { Factor, FactorEvent } from '../factor.ts';

const CODES = 10;
const CODE_CHARACTERS = 10;
/** A character encodes five bits. */
const CODE_BYTES = Math.ceil((CODE_CHARACTERS * 5) / 8);

export const drawRecoveryCodes = (random: Random): readonly string[] =>
  Array.from({ length: CODES }, () =>
    crockford(random.bytes(CODE_BYTES)).slice(0, CODE_CHARACTERS),
  );

/** The form in which it is shown: `K7QF3-M8XPA`. */
export const printRecoveryCode = (code: string): string =>
  `${code.slice(0, CODE_CHARACTERS / 2)}-${code.slice(CODE_CHARACTERS / 2)}`;

/** Normalizes a typed code. Returns undefined if the text is no code. */
export function readRecoveryCode(typed: string): string | undefined {
  const code = readCrockford(typed);
  return code?.length === CODE_CHARACTERS ? code : undefined;
}

export type EnrolRecoveryCodes = {
  readonly id: string;
  readonly userId: string;
  readonly hashes: readonly string[];
  readonly now: Date;
};

export function enrolRecoveryCodes(
  { id, userId, hashes, now }: EnrolRecoveryCodes,
  factor: Factor,
): Decision<FactorEvent, 'already_created'> {
  if (factor.type !== 'none') return refuse('already_created');
  return accept({
    type: 'FactorEnrolled',
    data: {
      id,
      user_id: userId,
      type: 'recovery',
      name: null,
      code_hashes: hashes,
      enrolled_at: now.toISOString(),
      last_used_at: null,
    },
  });
}

export type UseRecoveryCode = {
  readonly userId: string;
  readonly hash: string;
  readonly now: Date;
};

export function useRecoveryCode(
  { userId, hash, now }: UseRecoveryCode,
  factor: Factor,
): Decision<FactorEvent, 'not_found' | 'wrong'> {
  if (factor.type !== 'recovery' || factor.user_id !== userId) return refuse('not_found');
  if (!factor.code_hashes.includes(hash)) return refuse('wrong');
  const code_hashes = factor.code_hashes.filter((other) => other !== hash);
  const last_used_at = now.toISOString();
  return accept({ type: 'FactorUsed', data: { ...factor, code_hashes, last_used_at } });
}

/** Sets new codes for an account. They are worthless without another factor. */
export function setRecoveryCodes(
  { recoveryId, now }: { readonly recoveryId: string; readonly now: Date },
  user: User,
): Decision<UserEvent, 'not_found' | 'no_second_factor'> {
  if (user.status !== 'active') return refuse('not_found');
  if (!hasSecondFactor(user)) return refuse('no_second_factor');
  const data = { id: user.id, factor_id: recoveryId, at: now.toISOString() };
  return accept({ type: 'RecoveryCodesSet', data });
}
