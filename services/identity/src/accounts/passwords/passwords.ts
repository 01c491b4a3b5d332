/** Which passwords are accepted, and how they are stored: as hashes, never in clear. */
import { isCommonPassword } from '@cardea/runtime';
import type { PasswordFunction } from '../../adapters/argon2.ts';
import type { BreachedPasswords } from '../../adapters/breached-passwords.ts';
import { type ForeignHash, storedHash } from '../../adapters/foreign-hash-forms.ts';
import type { HashCost } from '../../adapters/hash-cost.ts';
import type { PasswordPolicy } from '../../workspaces/workspaces.module.ts';
import type { HashPermits } from './hash-permits.ts';
import type { SignInFloor } from './sign-in-floor.ts';

export const PASSWORD_CHARACTERS_MAX = 128;

/** What is seen at once. Characters are code points of the NFC form: an emoji counts once. */
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
  /** Runs before the first sign-in, so that none is slower than the others. */
  readonly warmUp: () => Promise<void>;
  readonly hash: (password: string, tenantId: string) => Promise<string>;
  /**
   * What a tenant has against a new password that takes work to find out, so limits come before: how hard it is
   * to guess, and whether it is known from a leak. What cannot be found out is no objection.
   */
  readonly objectionTo: (
    password: string,
    policy: Pick<PasswordPolicy, 'breach_check' | 'zxcvbn_score'>,
    tenantId: string,
  ) => Promise<'password_too_weak' | 'password_breached' | undefined>;
  /** The form in which a hash that was made elsewhere is stored, where it can be verified below its ceiling. */
  readonly readHash: (foreign: ForeignHash) => ReadHash;
  /** Accounts of the tenant are brought with these hashes. */
  readonly brought: (tenantId: string, phcs: readonly string[]) => Promise<void>;
  /**
   * Verifies the password of a sign-in. Without a stored hash it does the same work and refuses. It takes as
   * long as the dearest hash of the tenant, whatever comes of it. `rehashed` is set if the parameters changed.
   */
  readonly verify: (
    phc: string | null,
    password: string,
    tenantId: string,
  ) => Promise<{ readonly right: boolean; readonly rehashed?: string }>;
  /** Whether it is the password of the hash, for a person who has proven themselves. */
  readonly matches: (phc: string, password: string, tenantId: string) => Promise<boolean>;
};

export type PasswordsDependencies = {
  readonly own: PasswordFunction;
  readonly permits: HashPermits;
  readonly floor: SignInFloor;
  readonly breached: BreachedPasswords;
  /** From 0, guessed at once, to 4; outside the main thread. */
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
    warmUp: judge.warmUp,
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
      const costs = await Promise.all(phcs.map((phc) => judge.floorCost(phc)));
      const [dearest] = costs
        .flatMap((cost) => cost ?? [])
        .toSorted((one, other) => other.workMs - one.workMs);
      if (dearest !== undefined) await floor.note(tenantId, dearest);
    },
    verify: (phc, password, tenantId) =>
      floor.hold(
        tenantId,
        async () => {
          const right = await judge.isRight(phc ?? (await judge.dummyHash()), password, tenantId);
          if (phc === null || !right) return { right: false };
          return own.isOutdated(phc)
            ? { right, rehashed: await hash(password, tenantId) }
            : { right };
        },
        formsOf(password).length,
      ),
    matches: judge.isRight,
  };
}

/**
 * The composed form, which ours are made of, and then the one that was typed: other products hash that, so a
 * decomposed password would never fit.
 */
const formsOf = (password: string): readonly string[] => [
  ...new Set([password.normalize('NFC'), password]),
];

/** Verifies hashes: ours under the permits of all, dearer ones under the tenant's own. */
function hashVerification({ own, permits, floor }: PasswordsDependencies) {
  let dummy: Promise<string> | undefined;
  const dummyHash = () => {
    dummy ??= own.hash('no password of anybody');
    return dummy;
  };
  const costs = async (phc: string) => {
    const [cost, ours] = [own.costOf(phc), own.costOf(await dummyHash())];
    return typeof cost === 'object' && typeof ours === 'object' ? { cost, ours } : undefined;
  };
  /** What the floor of a tenant has to last where an account has this hash; undefined where nothing is needed. */
  const floorCost = async (phc: string): Promise<HashCost | undefined> => {
    const known = own.isOutdated(phc) ? await costs(phc) : undefined;
    if (known === undefined) return undefined;
    // A cheaper hash than ours would answer sooner than an address that nobody has.
    return isDearer(known) ? known.cost : known.ours;
  };
  return {
    dummyHash,
    floorCost,
    warmUp: async () => {
      await dummyHash();
    },
    isRight: async (phc: string, password: string, tenantId: string): Promise<boolean> => {
      const known = await costs(phc);
      // Each try is timed alone, so that what is typed does not raise the floor.
      const verify = async (): Promise<boolean> => {
        const forms = own.isOutdated(phc) ? formsOf(password) : [password.normalize('NFC')];
        for (const form of forms) {
          const one = () => own.verify(phc, form);
          if (await (known === undefined ? one() : floor.timed(known.cost, one))) return true;
        }
        return false;
      };
      const least = await floorCost(phc);
      if (least !== undefined) await floor.note(tenantId, least);
      const isForeign = known !== undefined && isDearer(known);
      return permits.run({ tenantId, isForeign }, verify);
    },
  };
}

const isDearer = ({ cost, ours }: { readonly cost: HashCost; readonly ours: HashCost }): boolean =>
  cost.workMs > ours.workMs;
