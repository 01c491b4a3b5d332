/**
 * One authentication attempt: the user, the factors that were verified or are due, and the result. It is a value.
 * `second-factor/pending-sign-in.ts` stores the part that is needed before it ends.
 */
import {
  type ExistingUser,
  exists,
  hasSecondFactor,
  type User,
} from '../../accounts/accounts.module.ts';
import type { SessionOrigin } from '../../sessions/sessions.module.ts';
import type { TenantSettings } from '../../workspaces/workspaces.module.ts';

/**
 * Each sign-in method: the tenant's name for it (`auth_methods`), its `amr` values in tokens (RFC 8176), and whether it
 * results in a session or only in a token. Methods with `provesAddress` also prove the person's address.
 */
export const FACTORS = {
  password: { amr: ['pwd'], leaves: 'session', provesAddress: false },
  /** A passkey is two factors in one: possession, plus knowledge or biometrics. No further factor is due. */
  passkeys: { amr: ['pop', 'mfa'], leaves: 'session', provesAddress: false },
  magic_link: { amr: ['otp'], leaves: 'token', provesAddress: true },
  otp: { amr: ['otp'], leaves: 'token', provesAddress: true },
  /** The provider has authenticated the person. The address was proven when the accounts were linked. */
  google: { amr: ['fed'], leaves: 'session', provesAddress: false },
  github: { amr: ['fed'], leaves: 'session', provesAddress: false },
  microsoft: { amr: ['fed'], leaves: 'session', provesAddress: false },
} as const satisfies {
  readonly [factor: string]: {
    readonly amr: readonly string[];
    readonly leaves: 'session' | 'token';
    readonly provesAddress: boolean;
  };
};
export type Factor = keyof typeof FACTORS;

/** The second factors that a sign-in may require, with their `amr` values. */
const SECOND_FACTORS = { totp: 'otp', recovery: 'otp', passkey: 'pop' } as const;
export type SecondFactor = keyof typeof SECOND_FACTORS;
/** The factors by which a signed-in user can confirm the sign-in. */
export type StepFactor = 'password' | SecondFactor;

/** Factors that can be enrolled during a sign-in, if the account has to have one. */
export const ENROLLABLE: readonly SecondFactor[] = ['totp', 'passkey'];

/** Whether one of the account's second factors is due, or has to be enrolled first. */
export type SecondDue = 'none' | 'one_of_them' | 'enrolment';

type Leaving<Left extends 'session' | 'token'> = {
  [F in Factor]: (typeof FACTORS)[F]['leaves'] extends Left ? F : never;
}[Factor];
export type SessionFactor = Leaving<'session'>;
export type TokenFactor = Leaving<'token'>;

/** Why an attempt is refused although its first factor was right. */
export type Objection = 'login_disabled' | 'email_not_verified';
export type Refusal =
  | 'invalid_credentials'
  | 'disabled'
  /** There were too many attempts with the address or from the network. */
  | 'blocked'
  | 'limited'
  /** The account was deleted during the attempt. Nothing can be recorded for it any more. */
  | 'erased'
  | Objection;

export type OpenAttempt<F extends Factor = Factor> = {
  readonly status: 'open';
  readonly via: SessionOrigin;
  readonly first: F;
  /** Null if there is no such user. The attempt then continues in the same way and is refused. */
  readonly user: ExistingUser | null;
  readonly objection: Objection | undefined;
  readonly isMet: boolean;
  readonly secondDue: SecondDue;
  /** The second factor that was verified. */
  readonly second: SecondFactor | undefined;
};
export type Refused = {
  readonly status: 'refused';
  readonly reason: Refusal;
  readonly retryAfterSeconds?: number;
};
/** An attempt whose first factor was verified, so its user is known. */
export type MetAttempt<F extends Factor = Factor> = OpenAttempt<F> & {
  readonly user: ExistingUser;
};
export type Attempt<F extends Factor = Factor> = MetAttempt<F> | Refused;

export type Begin<F extends Factor = Factor> = {
  readonly via: SessionOrigin;
  readonly first: F;
  readonly user: User;
  readonly settings: Pick<
    TenantSettings,
    'auth_methods' | 'email_verification_required' | 'mfa_policy'
  >;
};

export const begin = <F extends Factor>({
  via,
  first,
  user,
  settings,
}: Begin<F>): OpenAttempt<F> => ({
  status: 'open',
  via,
  first,
  user: exists(user) ? user : null,
  objection: objectionTo({ via, first, user, settings }),
  isMet: false,
  secondDue: exists(user) ? secondDueOf(user, first, settings) : 'none',
  second: undefined,
});

function secondDueOf(
  user: ExistingUser,
  first: Factor,
  { mfa_policy: policy }: Begin['settings'],
): SecondDue {
  if (policy === 'disabled' || first === 'passkeys') return 'none';
  if (hasSecondFactor(user)) return 'one_of_them';
  return policy === 'required' ? 'enrolment' : 'none';
}

function objectionTo({ via, first, user, settings }: Begin): Objection | undefined {
  // Registering an account does not count as a sign-in method.
  if (via === 'login' && !settings.auth_methods.includes(first)) return 'login_disabled';
  if (FACTORS[first].provesAddress || !settings.email_verification_required) return undefined;
  return exists(user) && !user.emailVerified ? 'email_not_verified' : undefined;
}

/** Begins an attempt of a signed-in user who confirms their password. No objection applies. */
export const confirming = (user: ExistingUser): OpenAttempt<'password'> => ({
  status: 'open',
  via: 'login',
  first: 'password',
  user,
  objection: undefined,
  isMet: false,
  secondDue: 'none',
  second: undefined,
});

/** Records the result of the first factor. Objections to the account are revealed only after a right factor. */
export function meet<F extends Factor>(attempt: OpenAttempt<F>, isRight: boolean): Attempt<F> {
  const { user, objection, isMet } = attempt;
  if (!isRight || user === null || isMet) return refuse('invalid_credentials');
  if (user.status !== 'active') return refuse('disabled');
  if (objection !== undefined) return refuse(objection);
  return { ...attempt, user, isMet: true };
}

/** Records that the due second factor was verified. */
export function meetSecond<F extends Factor>(
  attempt: MetAttempt<F>,
  second: SecondFactor,
): MetAttempt<F> {
  if (attempt.secondDue === 'none') throw new Error('no second factor is due');
  return { ...attempt, secondDue: 'none', second };
}

/** Ends the attempt with a refusal. */
export const refuse = (reason: Refusal, retryAfterSeconds?: number): Refused => ({
  status: 'refused',
  reason,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

export type Conclusion = {
  readonly ends: 'second_factor_due' | 'session' | 'token';
  readonly user: ExistingUser;
  readonly via: SessionOrigin;
  readonly method: Factor;
  readonly amr: readonly string[];
  readonly secondDue: SecondDue;
  /** The proof of the person that cannot be guessed. Undefined if there was only a password. */
  readonly proof: 'mail' | 'passkey' | undefined;
};

/** The outcome of an attempt whose first factor was verified. */
export function conclude({ user, via, first, isMet, secondDue, second }: MetAttempt): Conclusion {
  if (!isMet) throw new Error('the first factor is not met');
  return {
    ends: secondDue === 'none' ? FACTORS[first].leaves : 'second_factor_due',
    user,
    via,
    method: first,
    amr: [...FACTORS[first].amr, ...(second === undefined ? [] : [SECOND_FACTORS[second], 'mfa'])],
    secondDue,
    proof: proofOf(first, second),
  };
}

function proofOf(first: Factor, second: SecondFactor | undefined): Conclusion['proof'] {
  if (first === 'passkeys' || second === 'passkey') return 'passkey';
  return FACTORS[first].provesAddress ? 'mail' : undefined;
}

/** The `amr` of a session after its user confirmed the sign-in by a factor. */
export function amrAfterStep(before: readonly string[], factor: StepFactor): readonly string[] {
  const shown = factor === 'password' ? FACTORS.password.amr : [SECOND_FACTORS[factor], 'mfa'];
  return [...new Set([...before, ...shown])];
}

/** The kinds of second factors that the account has. */
export function secondFactorsOf({ secondFactors }: ExistingUser): readonly SecondFactor[] {
  const { factors, recoveryId } = secondFactors;
  const own = (['totp', 'passkey'] as const).filter((type) =>
    factors.some((factor) => factor.type === type),
  );
  return recoveryId === null ? own : [...own, 'recovery'];
}
