/**
 * Confirms a sign-in by a factor. The session gets a new time of sign-in, and the caller gets a token with that time.
 */

import type { UserPrincipal } from '@cardea/auth';
import { documented } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { type ExistingUser, exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import type { Passkeys, SecondFactors } from '../../factors/factors.module.ts';
import { badField, closed, credentialField, PASSWORD_BODY_MAX_BYTES } from '../../http/answers.ts';
import { type AccessTokens, sessions, validityContextOf } from '../../sessions/sessions.module.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import { confirming } from '../attempts/attempt.ts';
import { wrongCredential } from '../attempts/end-attempt.ts';
import type { GuessSecondFactor } from '../attempts/guess-second-factor.ts';
import type { VerifyPassword } from '../attempts/verify-password.ts';
import { isEnough, stepUp } from './step-up.ts';

type ApplicationOfUser = {
  readonly tenantId: string;
  readonly userId: string;
  readonly clientId: string;
};

/** The access that an application already has for its user. */
export type ApplicationAccess = {
  /** The epoch of the consent that the access depends on. Undefined if the consent was withdrawn. */
  readonly consentEpoch: (of: ApplicationOfUser) => Promise<number | undefined>;
  /**
   * Issues an access token with the same scopes and resource as before, or undefined after a withdrawal. `authTime` is
   * in Unix seconds.
   */
  readonly issue: (
    of: ApplicationOfUser & {
      readonly user: ExistingUser;
      readonly scopes: readonly string[];
      readonly sid: string;
      readonly authTime: number;
      readonly amr: readonly string[];
      readonly readAt: Date;
      /** The key to which the caller's token is bound. The new token is bound to it, too. */
      readonly boundKey: string | undefined;
    },
  ) => Promise<ReturnType<AccessTokens['issue']> | undefined>;
};

type ConfirmDependencies = Pick<ServiceDependencies, 'streams'> & {
  readonly verifyPassword: VerifyPassword;
  readonly secondFactors: Pick<SecondFactors, 'use'>;
  readonly guessSecondFactor: GuessSecondFactor;
  readonly passkeys: Pick<Passkeys, 'look' | 'use'>;
};

type Dependencies = ConfirmDependencies &
  Pick<ServiceDependencies, 'clock' | 'command' | 'limits'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly accessTokens: AccessTokens;
    readonly applicationAccess: ApplicationAccess;
  };

const needing = (method: string, required: readonly string[]) => ({
  if: { properties: { method: { const: method } }, additionalProperties: true },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    required,
    properties: Object.fromEntries(required.map((name) => [name, {}])),
    additionalProperties: true,
  },
});
const Body = documented(
  closed({
    method: Type.Enum(['password', 'totp', 'recovery', 'passkey']),
    password: Type.Optional(Type.String()),
    code: Type.Optional(Type.String({ maxLength: 64 })),
    challenge_id: Type.Optional(Type.String({ maxLength: 128 })),
    response: Type.Optional(credentialField),
  }),
  {
    allOf: [
      needing('password', ['password']),
      needing('totp', ['code']),
      needing('recovery', ['code']),
      needing('passkey', ['challenge_id', 'response']),
    ],
  },
);

/** The codes with which a factor is refused, and their statuses. */
export const STEP_UP_REFUSALS = {
  invalid_request: 400,
  invalid_credentials: 401,
  invalid_code: 401,
  invalid_passkey: 401,
  user_session_required: 401,
  second_factor_required: 403,
  challenge_expired: 410,
  too_many_attempts: 429,
  rate_limited: 429,
} as const;

export const stepUpRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'step_up',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'never',
      summary: 'Show a factor once more, for calls that want a recent sign-in',
      description:
        'Shows a factor once more, for calls that want a recent sign-in, and answers an access token of the same session. A user with a second factor must show that one.',
      tag: 'Authentication',
      method: 'post',
      path: '/api/v1/auth/step-up',
      who: ['user'],
      tenant: 'optional',
      body: Body,
      ok: closed({ access_token: Type.String(), expires_in: Type.Integer() }),
      refusals: STEP_UP_REFUSALS,
      recordsItsRefusals: ['invalid_credentials', 'too_many_attempts'],
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    async (request) => {
      const { principal } = request;
      const { tenantId, id: userId, sessionId: sid, clientId } = principal;
      if (sid === null) return SESSION_REQUIRED;
      const readAt = needs.clock.now();
      const [tenant, user, consentEpoch] = await Promise.all([
        needs.workspaces.tenant(tenantId),
        needs.userDirectory.byId(tenantId, userId),
        clientId === null
          ? undefined
          : needs.applicationAccess.consentEpoch({ tenantId, userId, clientId }),
      ]);
      if (tenant === undefined || !exists(user)) return SESSION_REQUIRED;
      const command = await needs.command(request);
      const of = { tenant, user, sid, ip: request.ip, consentEpoch };
      const confirmed = await confirmSignIn(needs, of, request.body, command);
      if ('refused' in confirmed) return confirmed;
      const { auth_time: authTime, amr, app_id: appId } = confirmed.session;
      const stepped = { user, tenant, readAt, sid, authTime, amr, appId };
      const issued = await issue(needs, principal, stepped);
      if (issued === undefined) return SESSION_REQUIRED;
      const { token, expiresIn } = issued;
      return { ok: { access_token: token, expires_in: expiresIn }, wrote: confirmed.position };
    },
  );

type Factor = Static<typeof Body>;
type SignIn = {
  readonly tenant: TenantFacts;
  readonly user: ExistingUser;
  readonly sid: string;
  readonly ip: string;
  /** The epoch of the consent, if the session depends on one. */
  readonly consentEpoch?: number | undefined;
};

/** Verifies a factor and sets the session's time of sign-in to now. */
export type ConfirmSignIn = (
  signIn: SignIn,
  factor: Factor,
  command: Command,
) => ReturnType<typeof confirmSignIn>;

export async function confirmSignIn(
  needs: ConfirmDependencies,
  { tenant, user, sid, ip, consentEpoch }: SignIn,
  factor: Factor,
  command: Command,
) {
  const { method } = factor;
  if (!isEnough(method, user, tenant.settings)) return SECOND_FACTOR_REQUIRED;
  const shown =
    method === 'passkey'
      ? await showPasskey(needs, factor, { user, tenant }, command)
      : await show(needs, { factor, ip }, user, command);
  if (shown.refused !== undefined) return shown;
  const validity = validityContextOf(user, true, consentEpoch);
  const { factorId } = shown;
  const step = { userId: user.id, factor: method, factorId, validity, now: command.now };
  const decided = await needs.streams.decideOn(sessions, sid, command, (session) =>
    stepUp(step, session),
  );
  if (!decided.accepted || decided.state.status === 'none') return SESSION_REQUIRED;
  return { session: decided.state, position: decided.position };
}

const SECOND_FACTOR_REQUIRED = { refused: 'second_factor_required' } as const;

type Stepped = Omit<Parameters<AccessTokens['issue']>[0], 'email'> & { readonly sid: string };

/** Issues a token of the caller's kind: a user's own token, or one of the application in use. */
async function issue(
  { accessTokens, applicationAccess, userDirectory }: Dependencies,
  { tenantId, id: userId, clientId, scopes = [], boundKey }: UserPrincipal,
  stepped: Stepped,
): Promise<ReturnType<AccessTokens['issue']> | undefined> {
  const { user, sid, authTime, amr, readAt } = stepped;
  if (clientId === null) {
    return accessTokens.issue({ ...stepped, email: await userDirectory.emailOf(user) });
  }
  const token = { scopes, sid, authTime, amr, readAt, boundKey };
  const of = { tenantId, userId, clientId, user, ...token };
  return applicationAccess.issue(of);
}

const SESSION_REQUIRED = { refused: 'user_session_required' } as const;

/** Verifies the factor and returns which one it was. */
async function show(
  needs: ConfirmDependencies,
  { factor, ip }: { readonly factor: Factor; readonly ip: string },
  user: ExistingUser,
  command: Command,
) {
  const { method, password, code } = factor;
  const own = { ...command, id: uuidFrom(command.id, 'shown') };
  if (method === 'passkey') throw new Error('a passkey is no code');
  if (method === 'password') {
    if (password === undefined) return badField('password', 'required');
    const { attempt } = await needs.verifyPassword(
      confirming(user),
      { emailHash: user.emailHash, password, method: 'step_up', ip },
      own,
    );
    return attempt.status === 'refused' ? wrongCredential(attempt) : { factorId: null };
  }
  if (code === undefined) return badField('code', 'required');
  const tried = async () => {
    const factorId = await needs.secondFactors.use(user, { method, code }, own);
    return { isWrong: factorId === undefined, factorId };
  };
  const guess = { user, method, ip };
  const shown = await needs.guessSecondFactor(guess, tried, command);
  if ('refused' in shown) return shown;
  const { factorId } = shown;
  return factorId === undefined ? ({ refused: 'invalid_code' } as const) : { factorId };
}

async function showPasskey(
  { passkeys }: ConfirmDependencies,
  { challenge_id: challengeId, response }: Factor,
  { user, tenant }: { readonly user: ExistingUser; readonly tenant: TenantFacts },
  command: Command,
) {
  if (challengeId === undefined) return badField('challenge_id', 'required');
  if (response === undefined) return badField('response', 'required');
  const shown = await passkeys.look({ challengeId, response }, tenant);
  if (shown === 'expired') return { refused: 'challenge_expired' } as const;
  if ('invalid' in shown || !(await passkeys.use(shown, user, command))) {
    return { refused: 'invalid_passkey' } as const;
  }
  return { factorId: shown.factorId };
}
