/**
 * Which passwords are accepted, and how they are stored: as hashes, with limited concurrency, never in
 * clear.
 */
import { isCommonPassword } from '@cardea/runtime';
import type { PasswordFunction } from '../../adapters/argon2.ts';
import type { PasswordPolicy } from '../../workspaces/workspaces.module.ts';
import type { HashLimit } from './hash-limit.ts';

export const PASSWORD_CHARACTERS_MAX = 128;

/** Characters are code points of the NFC form: an emoji counts once. */
export function passwordFault(
  password: string,
  policy: PasswordPolicy,
): 'password_too_short' | 'password_too_long' | 'password_too_weak' | undefined {
  const length = [...password.normalize('NFC')].length;
  if (length < policy.min) return 'password_too_short';
  if (length > PASSWORD_CHARACTERS_MAX) return 'password_too_long';
  const isWeak = policy.common === 'refuse' && isCommonPassword(password);
  return isWeak ? 'password_too_weak' : undefined;
}

export type Passwords = {
  /** Runs before the first sign-in, so that none is slower than the others. */
  readonly warmUp: () => Promise<void>;
  readonly hash: (password: string) => Promise<string>;
  /**
   * Without a stored hash it does the same work and refuses. `rehashed` is set if the parameters changed.
   */
  readonly verify: (
    phc: string | null,
    password: string,
  ) => Promise<{ readonly right: boolean; readonly rehashed?: string }>;
};

export function passwords(own: PasswordFunction, gate: HashLimit): Passwords {
  let dummy: Promise<string> | undefined;
  const dummyHash = () => {
    dummy ??= own.hash('no password of anybody');
    return dummy;
  };
  return {
    warmUp: async () => {
      await dummyHash();
    },
    hash: (password) => gate.pass(() => own.hash(password.normalize('NFC'))),
    verify: async (phc, password) => {
      const stored = phc ?? (await dummyHash());
      return gate.pass(async () => {
        const right = await own.verify(stored, password.normalize('NFC'));
        if (phc === null || !right) return { right: false };
        if (!own.isOutdated(phc)) return { right };
        return { right, rehashed: await own.hash(password.normalize('NFC')) };
      });
    },
  };
}
