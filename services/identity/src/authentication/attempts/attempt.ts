/**
 * One authentication attempt: who it is about, which factors are met and which are due, and what it
 * ends in. It is a value; what is stored of it before it ends is in `second-factor/pending-sign-in.ts`.
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
 * Each way to sign in: the tenant's name for it (`auth_methods`), what tokens say of it (RFC 8176), and
 * whether it leaves a session or a token alone. Whoever met one that proves the address has shown that
 * it is theirs.
 */
export const FACTORS = {
  password: { amr: ['pwd'], leaves: 'session', provesAddress: false },
  /** What one has and what one is, or knows, in one: nothing further is due. */
  passkeys: { amr: ['pop', 'mfa'], leaves: 'session', provesAddress: false },
  magic_link: { amr: ['otp'], leaves: 'token', provesAddress: true },
  otp: { amr: ['otp'], leaves: 'token', provesAddress: true },
  /** Somebody else has authenticated them; the address was proven when the accounts were linked. */
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

/** What a sign-in may ask for after the first factor, and what tokens say of it. */
const SECOND_FACTORS = { totp: 'otp', recovery: 'otp', passkey: 'pop' } as const;
export type SecondFactor = keyof typeof SECOND_FACTORS;
/** What a signed-in user can show once more. */
export type StepFactor = 'password' | SecondFactor;

/** What can be enrolled where one has to be, in the course of a sign-in. */
export const ENROLLABLE: readonly SecondFactor[] = ['totp', 'passkey'];

/** Whether one of the account's second factors is due, or has to be enrolled first. */
export type SecondDue = 'none' | 'one_of_them' | 'enrolment';

type Leaving<Left extends 'session' | 'token'> = {
  [F in Factor]: (typeof FACTORS)[F]['leaves'] extends Left ? F : never;
}[Factor];
export type SessionFactor = Leaving<'session'>;
export type TokenFactor = Leaving<'token'>;

/** What stands against an attempt although its first factor is right. */
export type Objection = 'login_disabled' | 'email_not_verified';
export type Refusal =
  | 'invalid_credentials'
  | 'disabled'
  /** There were too many attempts with the address, or from the network. */
  | 'blocked'
  | 'limited'
  /** The account was deleted meanwhile, and nothing of it can be written down any more. */
  | 'erased'
  | Objection;

export type OpenAttempt<F extends Factor = Factor> = {
  readonly status: 'open';
  readonly via: SessionOrigin;
  readonly first: F;
  /** Null where nobody was found: it goes on as if somebody was, and ends refused. */
  readonly user: ExistingUser | null;
  readonly objection: Objection | undefined;
  readonly isMet: boolean;
  readonly secondDue: SecondDue;
  /** The one that was shown. */
  readonly second: SecondFactor | undefined;
};
export type Refused = {
  readonly status: 'refused';
  readonly reason: Refusal;
  readonly retryAfterSeconds?: number;
};
/** A factor was met, so it is known who it is. */
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
  // Making an account is no use of a way to sign in.
  if (via === 'login' && !settings.auth_methods.includes(first)) return 'login_disabled';
  if (FACTORS[first].provesAddress || !settings.email_verification_required) return undefined;
  return exists(user) && !user.emailVerified ? 'email_not_verified' : undefined;
}

/** Somebody who is known shows their password once more; nothing speaks against that. */
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

/** The first factor was shown, rightly or not. What is wrong with the account is told to nobody who was wrong. */
export function meet<F extends Factor>(attempt: OpenAttempt<F>, isRight: boolean): Attempt<F> {
  const { user, objection, isMet } = attempt;
  if (!isRight || user === null || isMet) return refuse('invalid_credentials');
  if (user.status !== 'active') return refuse('disabled');
  if (objection !== undefined) return refuse(objection);
  return { ...attempt, user, isMet: true };
}

/** A second factor was right: the one that was due. */
export function meetSecond<F extends Factor>(
  attempt: MetAttempt<F>,
  second: SecondFactor,
): MetAttempt<F> {
  if (attempt.secondDue === 'none') throw new Error('no second factor is due');
  return { ...attempt, secondDue: 'none', second };
}

/** The attempt goes no further. */
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
  /** What proves the person and cannot be guessed; undefined where only a password did. */
  readonly proof: 'mail' | 'passkey' | undefined;
};

/** What the attempt comes to, whose first factor is met. */
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

/** What tokens say of a session in which a factor was shown once more. */
export function amrAfterStep(before: readonly string[], factor: StepFactor): readonly string[] {
  const shown = factor === 'password' ? FACTORS.password.amr : [SECOND_FACTORS[factor], 'mfa'];
  return [...new Set([...before, ...shown])];
}

/** Which of them the account has. */
export function secondFactorsOf({ secondFactors }: ExistingUser): readonly SecondFactor[] {
  const { factors, recoveryId } = secondFactors;
  const own = (['totp', 'passkey'] as const).filter((type) =>
    factors.some((factor) => factor.type === type),
  );
  return recoveryId === null ? own : [...own, 'recovery'];
}
