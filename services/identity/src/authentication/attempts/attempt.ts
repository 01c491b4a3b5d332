/**
 * One authentication attempt: who it is about, which factors are met and which are due, and what it
 * ends in. It is a value; nothing is stored of it before it ends.
 */
import { type ExistingUser, exists, type User } from '../../accounts/accounts.module.ts';
import type { SessionOrigin } from '../../sessions/sessions.module.ts';
import type { TenantSettings } from '../../workspaces/workspaces.module.ts';

/**
 * Each way to sign in: the tenant's name for it (`auth_methods`), what tokens say of it (RFC 8176), and
 * whether it leaves a session or a token alone. Whoever met one that proves the address has shown that
 * it is theirs.
 */
export const FACTORS = {
  password: { amr: 'pwd', leaves: 'session', provesAddress: false },
  magic_link: { amr: 'otp', leaves: 'token', provesAddress: true },
  otp: { amr: 'otp', leaves: 'token', provesAddress: true },
} as const satisfies {
  readonly [factor: string]: {
    readonly amr: string;
    readonly leaves: 'session' | 'token';
    readonly provesAddress: boolean;
  };
};
export type Factor = keyof typeof FACTORS;

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
  /** Too many attempts with the address; from the network. */
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
  readonly met: readonly Factor[];
  readonly due: readonly Factor[];
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
  /** Factors that the account asks for beside the first. */
  readonly further: readonly Factor[];
  readonly user: User;
  readonly settings: Pick<TenantSettings, 'auth_methods' | 'email_verification_required'>;
};

export const begin = <F extends Factor>({
  via,
  first,
  further,
  user,
  settings,
}: Begin<F>): OpenAttempt<F> => ({
  status: 'open',
  via,
  first,
  user: exists(user) ? user : null,
  objection: objectionTo({ via, first, user, settings }),
  met: [],
  due: [first, ...further],
});

function objectionTo({
  via,
  first,
  user,
  settings,
}: Omit<Begin, 'further'>): Objection | undefined {
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
  met: [],
  due: ['password'],
});

/** The factor was shown, rightly or not. What is wrong with the account is told to nobody who was wrong. */
export function meet<F extends Factor>(
  attempt: OpenAttempt<F>,
  factor: Factor,
  isRight: boolean,
): Attempt<F> {
  const { user, objection, met, due } = attempt;
  if (!isRight || user === null || !due.includes(factor)) return refuse('invalid_credentials');
  if (user.status !== 'active') return refuse('disabled');
  if (objection !== undefined) return refuse(objection);
  const left = due.filter((other) => other !== factor);
  return { ...attempt, user, met: [...met, factor], due: left };
}

/** The attempt goes no further. */
export const refuse = (reason: Refusal, retryAfterSeconds?: number): Refused => ({
  status: 'refused',
  reason,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

export type Conclusion = {
  /** Not yet anything: further factors are due. */
  readonly ends: 'due' | 'session' | 'token';
  readonly user: ExistingUser;
  readonly via: SessionOrigin;
  readonly method: Factor;
  readonly amr: readonly string[];
  readonly mfaRequired: boolean;
};

/** What the attempt comes to, whose first factor is met. */
export function conclude({ user, via, first, met, due }: MetAttempt): Conclusion {
  if (due.includes(first)) throw new Error('the first factor is not met');
  const mfaRequired = due.length > 0;
  return {
    ends: mfaRequired ? 'due' : FACTORS[first].leaves,
    user,
    via,
    method: first,
    amr: [...met.map((factor) => FACTORS[factor].amr), ...(met.length > 1 ? ['mfa'] : [])],
    mfaRequired,
  };
}
