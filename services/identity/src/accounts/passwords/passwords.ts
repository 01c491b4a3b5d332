/** Decides which passwords are accepted, and stores them as hashes. */
import { isCommonPassword } from '@cardea/runtime';
import type { PasswordFunction } from '../../adapters/argon2.ts';
import type { BreachedPasswords } from '../../adapters/breached-passwords.ts';
import { type ForeignHash, storedHash } from '../../adapters/foreign-hash-forms.ts';
import type { HashCost } from '../../adapters/hash-cost.ts';
import type { PasswordPolicy } from '../../workspaces/workspaces.module.ts';
import type { HashPermits } from './hash-permits.ts';
import type { SignInFloor } from './sign-in-floor.ts';

export const PASSWORD_CHARACTERS_MAX = 128;

/**
 * Finds the faults that can be found without a hash or a lookup. Lengths count code points of the NFC form, so an emoji
 * counts once.
 */
export function passwordFault(
  password: string,
  policy: PasswordPolicy,
): 'password_too_short' | 'password_too_long' | 'password_too_weak' | undefined {
  const length = [...password.normalize('NFC')].length;
  if (length < policy.min) return 'password_too_short';
  if (length > PASSWORD_CHARACTERS_MAX) return 'password_too_long';
  return policy.common === 'refuse' && isCommonPassword(password) ? 'password_too_weak' : undefined;
}

export type ReadHash = { readonly phc: string } | 'too_dear' | 'unknown';

export type Passwords = {
  /** Call it before the first sign-in, which would otherwise be slower than the others. */
  readonly warmUp: () => Promise<void>;
  readonly hash: (password: string, tenantId: string) => Promise<string>;
  /**
   * Returns the tenant's objection to a new password, which takes work to find: how easy the password is to guess, and
   * whether it is in a known leak. Limits are checked before it. If a check fails to run, there is no objection.
   */
  readonly objectionTo: (
    password: string,
    policy: Pick<PasswordPolicy, 'breach_check' | 'zxcvbn_score'>,
    tenantId: string,
  ) => Promise<'password_too_weak' | 'password_breached' | undefined>;
  /** Converts an imported hash to the stored form, if it can be verified within the maximum cost. */
  readonly readHash: (foreign: ForeignHash) => ReadHash;
  /** Records that users of the tenant were imported with these hashes. */
  readonly brought: (tenantId: string, phcs: readonly string[]) => Promise<void>;
  /**
   * Verifies the password of a sign-in. Without a stored hash it does the same work and refuses. It always takes as
   * long as the tenant's most expensive hash. `rehashed` is set if the parameters changed.
   */
  readonly verify: (
    phc: string | null,
    password: string,
    tenantId: string,
  ) => Promise<{ readonly right: boolean; readonly rehashed?: string }>;
  /** Whether the password matches the hash, for a person who has authenticated already. */
  readonly matches: (phc: string, password: string, tenantId: string) => Promise<boolean>;
};

export type PasswordsDependencies = {
  readonly own: PasswordFunction;
  readonly permits: HashPermits;
  readonly floor: SignInFloor;
  readonly breached: BreachedPasswords;
  /** The strength from 0 (guessed at once) to 4. It is computed outside the main thread. */
  readonly strengthOf: (password: string) => Promise<number>;
};

export const readHashWith =
  ({ costOf }: Pick<PasswordFunction, 'costOf'>): Passwords['readHash'] =>
  (foreign) => {
    const phc = storedHash(foreign);
    const cost = phc === undefined ? undefined : costOf(phc);
    if (phc === undefined || cost === undefined) return 'unknown';
    return cost === 'too_dear' ? cost : { phc };
  };

export function passwords(deps: PasswordsDependencies): Passwords {
  const { own, permits, floor, breached, strengthOf } = deps;
  const judge = hashVerification(deps);
  const hash = (password: string, tenantId: string) =>
    permits.run({ tenantId }, () => own.hash(password.normalize('NFC')));
  return {
    warmUp: async () => {
      await judge.dummyHash();
    },
    hash,
    objectionTo: async (password, { zxcvbn_score: least, breach_check }, tenantId) => {
      const isWeak =
        least !== null &&
        (await permits.run({ tenantId }, () => strengthOf(password.normalize('NFC')))) < least;
      if (isWeak) return 'password_too_weak';
      return breach_check && (await breached(password)) ? 'password_breached' : undefined;
    },
    readHash: readHashWith(own),
    brought: async (tenantId, phcs) => {
      const costs = await Promise.all(phcs.map(async (phc) => (await judge.read(phc)).floorCost));
      const [dearest] = costs
        .flatMap((cost) => cost ?? [])
        .toSorted((one, other) => other.workMs - one.workMs);
      if (dearest !== undefined) await floor.note(tenantId, dearest);
    },
    verify: (phc, password, tenantId) =>
      floor.hold(
        tenantId,
        async () => {
          const tried = phc ?? (await judge.dummyHash());
          const { right, isOutdated } = await judge.check(tried, password, tenantId);
          if (phc === null || !right) return { right: false };
          return isOutdated ? { right, rehashed: await hash(password, tenantId) } : { right };
        },
        formsOf(password).length,
      ),
    matches: async (...of) => (await judge.check(...of)).right,
  };
}

/**
 * The composed form, from which our hashes are made, and then the form that was typed. Other products hash the typed
 * form, so a decomposed password would otherwise never match.
 */
const formsOf = (password: string): readonly string[] => [
  ...new Set([password.normalize('NFC'), password]),
];

/** Verifies our hashes with the shared permits, and more expensive ones with the tenant's own permit. */
function hashVerification({ own, permits, floor }: PasswordsDependencies) {
  let dummy: Promise<OwnHash> | undefined;
  const dummyOf = () => {
    dummy ??= own.hash('no password of anybody').then((phc) => ({ phc, cost: own.costOf(phc) }));
    return dummy;
  };
  /** Hashes that are not outdated cost as much as ours. There are no costs if the hash cannot be verified. */
  const read = async (phc: string): Promise<ReadCosts> => {
    const { cost: ours } = await dummyOf();
    const isOutdated = own.isOutdated(phc);
    const cost = isOutdated ? own.costOf(phc) : ours;
    if (typeof cost !== 'object' || typeof ours !== 'object') return { isOutdated };
    if (!isOutdated) return { isOutdated, cost };
    const isDearer = cost.workMs > ours.workMs;
    return { isOutdated, cost, isDearer, floorCost: isDearer ? cost : ours };
  };
  return {
    dummyHash: async () => (await dummyOf()).phc,
    read,
    check: async (phc: string, password: string, tenantId: string) => {
      const { isOutdated, cost, isDearer = false, floorCost } = await read(phc);
      // Each form of the password has its own minimum time, so a password with more forms does not raise that minimum.
      const verify = async (): Promise<boolean> => {
        const forms = isOutdated ? formsOf(password) : [password.normalize('NFC')];
        for (const form of forms) {
          const one = () => own.verify(phc, form);
          if (await (cost === undefined ? one() : floor.timed(cost, one))) return true;
        }
        return false;
      };
      if (floorCost !== undefined) await floor.note(tenantId, floorCost);
      const right = await permits.run({ tenantId, isForeign: isDearer }, verify);
      return { right, isOutdated };
    },
  };
}

type OwnHash = { readonly phc: string; readonly cost: ReturnType<PasswordFunction['costOf']> };

type ReadCosts = {
  readonly isOutdated: boolean;
  readonly cost?: HashCost;
  /** Whether it costs more than our own hashes. */
  readonly isDearer?: boolean;
  /**
   * The cost that the tenant's floor has to cover, at least that of our own hashes. A cheaper hash would answer sooner
   * than an address without an account. Undefined if our own hash suffices.
   */
  readonly floorCost?: HashCost;
};
