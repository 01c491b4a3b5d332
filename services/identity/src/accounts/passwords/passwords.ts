/**
 * Which passwords are accepted, and how they are stored: as hashes, with limited concurrency, never in
 * clear.
 */
import { Overloaded } from '@cardea/http';
import { type Clock, isCommonPassword } from '@cardea/runtime';
import type { PasswordFunction } from '../../adapters/argon2.ts';
import type { BreachedPasswords } from '../../adapters/breached-passwords.ts';
import { strengthOf } from '../../adapters/password-strength.ts';
import type { PasswordPolicy } from '../../workspaces/workspaces.module.ts';

export const PASSWORD_CHARACTERS_MAX = 128;

/** Characters are code points of the NFC form: an emoji counts once. */
export function passwordFault(
  password: string,
  policy: PasswordPolicy,
): 'password_too_short' | 'password_too_long' | 'password_too_weak' | undefined {
  const length = [...password.normalize('NFC')].length;
  if (length < policy.min) return 'password_too_short';
  if (length > PASSWORD_CHARACTERS_MAX) return 'password_too_long';
  const { common, zxcvbn_score: least } = policy;
  const isWeak =
    (common === 'refuse' && isCommonPassword(password)) ||
    (least !== null && strengthOf(password) < least);
  return isWeak ? 'password_too_weak' : undefined;
}

export type Passwords = {
  /** Runs before the first sign-in, so that none is slower than the others. */
  readonly warmUp: () => Promise<void>;
  readonly hash: (password: string) => Promise<string>;
  /** Known from a leak, where the policy wants to know; what cannot be found out is not. */
  readonly isBreached: (
    password: string,
    policy: Pick<PasswordPolicy, 'breach_check'>,
  ) => Promise<boolean>;
  /** Whether a hash that was made elsewhere can be verified here. */
  readonly isKnownHash: (phc: string) => boolean;
  /**
   * Without a stored hash it does the same work and refuses. `rehashed` is set if the parameters changed.
   */
  readonly verify: (
    phc: string | null,
    password: string,
  ) => Promise<{ readonly right: boolean; readonly rehashed?: string }>;
};

export function passwords(
  own: PasswordFunction,
  limit: HashLimit,
  breached: BreachedPasswords,
): Passwords {
  let dummy: Promise<string> | undefined;
  const dummyHash = () => {
    dummy ??= own.hash('no password of anybody');
    return dummy;
  };
  return {
    warmUp: async () => {
      await dummyHash();
    },
    isBreached: async (password, { breach_check: isAsked }) =>
      isAsked && (await breached(password)),
    isKnownHash: own.isKnown,
    hash: (password) => limit.run(() => own.hash(password.normalize('NFC'))),
    verify: async (phc, password) => {
      const stored = phc ?? (await dummyHash());
      return limit.run(async () => {
        const right = await own.verify(stored, password.normalize('NFC'));
        if (phc === null || !right) return { right: false };
        if (!own.isOutdated(phc)) return { right };
        return { right, rehashed: await own.hash(password.normalize('NFC')) };
      });
    },
  };
}

/** At most a few passwords are hashed at once; the others wait, and are refused when the queue is full. */
export const HASH_QUEUE_MAX = 64;
export const HASH_WAIT_MAX_MS = 2_000;

type Waiting = { readonly start: () => void };

export type HashLimit = {
  readonly run: <T>(job: () => Promise<T>) => Promise<T>;
  /** Jobs in the queue, for metrics. */
  readonly waiting: () => number;
};

/** A permit belongs to the job: it is kept until the hash has ended, even if the client has disconnected. */
export function hashLimit(concurrency: number, clock: Pick<Clock, 'sleep'>): HashLimit {
  let running = 0;
  const queue: Waiting[] = [];

  const permit = async (): Promise<void> => {
    if (running < concurrency) {
      running += 1;
      return;
    }
    if (queue.length >= HASH_QUEUE_MAX)
      throw new Overloaded('the queue for password hashes is full');
    await waitForTurn();
  };

  const waitForTurn = () =>
    new Promise<void>((resolve, reject) => {
      const timeout = new AbortController();
      const waiting: Waiting = {
        start: () => {
          timeout.abort();
          resolve();
        },
      };
      queue.push(waiting);
      void clock.sleep(HASH_WAIT_MAX_MS, timeout.signal).then(() => {
        if (timeout.signal.aborted) return;
        queue.splice(queue.indexOf(waiting), 1);
        reject(new Overloaded('waited too long for a password hash'));
      });
    });

  const leave = (): void => {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next.start();
  };

  return {
    run: async (job) => {
      await permit();
      try {
        return await job();
      } finally {
        leave();
      }
    },
    waiting: () => queue.length,
  };
}
