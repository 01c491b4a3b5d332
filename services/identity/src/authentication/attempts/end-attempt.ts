/**
 * Ends an attempt whose factors were verified: in a session, or in an access token only. If a second factor is due, it
 * ends in a token for that factor. Only this module starts sessions.
 */
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { metrics } from '@cardea/runtime';
import { newId, type ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import { tooManyAttempts, tooOften } from '../../http/answers.ts';
import type {
  AccessTokens,
  LoginSessions,
  SessionFacts,
  Tokens,
} from '../../sessions/sessions.module.ts';
import { signInField } from '../../streams/encrypted-fields.ts';
import { signins } from '../../streams/signin.ts';
import type { TenantFacts } from '../../workspaces/workspaces.module.ts';
import {
  type Attempt,
  type Conclusion,
  conclude,
  ENROLLABLE,
  type Factor,
  type MetAttempt,
  type Refused,
  refuse,
  type SessionFactor,
  secondFactorsOf,
  type TokenFactor,
} from './attempt.ts';
import { endBlocks } from './end-blocks.ts';
import { recordSignIn } from './lockout.ts';
import type { MfaTokens } from './mfa-token.ts';

const MS = 1_000;

type Dependencies = Pick<ServiceDependencies, 'ids' | 'sealer' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'emailOf' | 'snapshot'>;
  readonly loginSessions: Pick<LoginSessions, 'start' | 'startOther'>;
  readonly accessTokens: AccessTokens;
  readonly mfaTokens: Pick<MfaTokens, 'issue'>;
};

export type EndRequest = {
  readonly request: Request<unknown, unknown, unknown>;
  readonly tenant: TenantFacts;
  /** A moment before the user was read. */
  readonly readAt: Date;
  /** The id of the session, if it was chosen before. */
  readonly sid?: string;
};

/** An attempt whose first factor was verified, with the data that ends it. */
export type MetAttemptOf<F extends Factor = Factor> = Omit<EndRequest, 'request'> & {
  readonly attempt: MetAttempt<F>;
  readonly command: Command;
};

/** The fields that every sign-in response has. */
type InSession = {
  readonly status: 'session';
  readonly sid: string;
  readonly signedIn: Tokens & {
    readonly user_id: string;
    readonly email_verified: boolean;
    readonly mfa_required: boolean;
  };
  readonly wrote: bigint | undefined;
};
type InToken = {
  readonly status: 'token';
  readonly signedIn: {
    readonly user_id: string;
    readonly access_token: string;
    readonly expires_in: number;
  };
  readonly wrote: bigint | undefined;
};

export type InBrowser = {
  readonly status: 'browser';
  readonly session: SessionFacts;
  readonly wrote: bigint | undefined;
};

export type Due = {
  readonly status: 'second_factor_due';
  readonly answer: {
    readonly user_id: string;
    readonly email_verified: boolean;
    readonly mfa_required: true;
    readonly mfa_enrollment_required?: true;
    readonly mfa_token: string;
    mfa_methods: string[];
    readonly expires_in: number;
  };
};

/**
 * Ends an attempt. The first factor determines which function applies; the other does not compile. An attempt is
 * refused only if the account was erased in between.
 */
export type EndAttempt = {
  readonly inSession: (
    attempt: MetAttempt<SessionFactor>,
    of: EndRequest,
    command: Command,
  ) => Promise<Refused | InSession | Due>;
  readonly inToken: (
    attempt: MetAttempt<TokenFactor>,
    of: EndRequest,
    command: Command,
  ) => Promise<Refused | InToken | Due>;
  /** At the hosted pages every factor starts a session of the browser and issues no token. */
  readonly inBrowser: (
    attempt: MetAttempt,
    of: EndRequest,
    command: Command,
  ) => Promise<Refused | InBrowser | Due>;
  /** Ends the attempt as its first factor requires, after the second factor was verified too. */
  readonly asBegun: (
    attempt: MetAttempt,
    of: EndRequest,
    command: Command,
  ) => Promise<Refused | InSession | InToken>;
};

export const endAttempt = (needs: Dependencies): EndAttempt => ({
  inSession: async (attempt, of, command) => {
    const concluded = conclude(attempt);
    return concluded.ends === 'second_factor_due'
      ? askForSecond(needs, concluded, of)
      : startSession(needs, concluded, of, command);
  },
  inToken: async (attempt, of, command) => {
    const concluded = conclude(attempt);
    return concluded.ends === 'second_factor_due'
      ? askForSecond(needs, concluded, of)
      : issueToken(needs, concluded, of, command);
  },
  inBrowser: async (attempt, of, command) => {
    const concluded = conclude(attempt);
    if (concluded.ends === 'second_factor_due') return askForSecond(needs, concluded, of);
    const session = sessionOf(needs, concluded, of);
    const other = { kind: 'browser' } as const;
    const started = await needs.loginSessions.startOther({ ...session, other }, command);
    if (started === 'erased') return refuse('erased');
    await endBlocks(needs, concluded, command);
    return { status: 'browser', session: started.session, wrote: started.position };
  },
  asBegun: async (attempt, of, command) => {
    const concluded = conclude(attempt);
    if (concluded.ends === 'second_factor_due') throw new Error('a second factor is due');
    return concluded.ends === 'session'
      ? startSession(needs, concluded, of, command)
      : issueToken(needs, concluded, of, command);
  },
});

function askForSecond(
  { mfaTokens }: Dependencies,
  { user, via, method: first, secondDue }: Conclusion,
  { request, tenant, readAt }: EndRequest,
): Due {
  if (secondDue === 'none') throw new Error('no second factor is due');
  const of = { user, via, first, due: secondDue, tenantId: tenant.id, readAt };
  const { token, expiresIn } = mfaTokens.issue({ ...of, appId: request.appId ?? null });
  const isEnrolment = secondDue === 'enrolment';
  const answer = {
    user_id: user.id,
    email_verified: user.emailVerified,
    mfa_required: true as const,
    ...(isEnrolment ? ({ mfa_enrollment_required: true } as const) : {}),
    mfa_token: token,
    mfa_methods: [...(isEnrolment ? ENROLLABLE : secondFactorsOf(user))],
    expires_in: expiresIn,
  };
  return { status: 'second_factor_due', answer };
}

async function startSession(
  needs: Dependencies,
  concluded: Conclusion,
  of: EndRequest,
  command: Command,
): Promise<Refused | InSession> {
  const { user } = concluded;
  const session = sessionOf(needs, concluded, of);
  const started = await needs.loginSessions.start(session, command);
  if (started === 'erased') return refuse('erased');
  await endBlocks(needs, concluded, command);
  const signedIn = {
    user_id: user.id,
    ...started.tokens,
    email_verified: user.emailVerified,
    mfa_required: false,
  };
  return { status: 'session', sid: session.sid, signedIn, wrote: started.position };
}

const sessionOf = (
  needs: Dependencies,
  { user, via, method, amr }: Conclusion,
  { request, tenant, readAt, sid }: EndRequest,
) => ({
  sid: sid ?? newId(needs, request, 'session'),
  user,
  readAt,
  tenant,
  via,
  method,
  amr,
  ip: request.ip,
  userAgent: request.userAgent,
  appId: request.appId ?? null,
});

/** Issues only an access token. It depends on the user, and cannot be refreshed. */
async function issueToken(
  needs: Dependencies,
  { user, method, amr }: Conclusion,
  { request, tenant, readAt }: EndRequest,
  command: Command,
): Promise<Refused | InToken> {
  const { sealer, streams, userDirectory } = needs;
  const snapshot = JSON.stringify(await userDirectory.snapshot(user));
  const sealed = await sealer.seal(tenant.id, signInField(user.id, user.emailHash), snapshot);
  if (sealed === 'erased') return refuse('erased');
  const by = { user_id: user.id, method, amr, user: sealed, now: command.now };
  const signed = await streams.decideOn(signins, user.emailHash, command, (signin) =>
    recordSignIn(by, signin),
  );
  const { token, expiresIn } = needs.accessTokens.issue({
    user,
    readAt,
    email: await userDirectory.emailOf(user),
    tenant,
    sid: null,
    authTime: Math.floor(command.now.getTime() / MS),
    amr,
    appId: request.appId ?? null,
  });
  const signedIn = { user_id: user.id, access_token: token, expires_in: expiresIn };
  return { status: 'token', signedIn, wrote: signed.position };
}

/** The response to a wrong credential, whatever else applies to the account. */
export function wrongCredential({ reason, retryAfterSeconds = 0 }: Refused) {
  if (reason === 'limited') return tooOften({ retryAfterSeconds });
  if (reason === 'blocked') return tooManyAttempts({ retryAfterSeconds });
  return { refused: 'invalid_credentials' } as const;
}

/** Counts the result of a sign-in. */
export function countSignIn(attempt: Attempt): void {
  metrics.logins.inc({ outcome: attempt.status === 'open' ? 'right' : OUTCOMES[attempt.reason] });
}

const OUTCOMES: { readonly [reason in Refused['reason']]: string } = {
  invalid_credentials: 'wrong',
  disabled: 'wrong',
  erased: 'wrong',
  email_not_verified: 'objection',
  login_disabled: 'objection',
  blocked: 'blocked',
  limited: 'limited',
};
