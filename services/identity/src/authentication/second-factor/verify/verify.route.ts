/**
 * Shows the second factor of a sign-in that waits for it, or enrols the one that it has to have; then it
 * ends as its first factor would have ended it.
 */
import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { UserDirectory } from '../../../accounts/accounts.module.ts';
import { counted, type Passkeys, type SecondFactors } from '../../../factors/factors.module.ts';
import {
  closed,
  credentialField,
  PASSWORD_BODY_MAX_BYTES,
  SignedInWithSecondFactor,
  tooOften,
} from '../../../http/answers.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import { type MetAttempt, meetSecond, type SecondFactor } from '../../attempts/attempt.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import type { MfaClaims, MfaTokens } from '../../attempts/mfa-token.ts';
import type { ClearLockout } from '../../attempts/verify-password.ts';
import { faultOf, pendingSignIns, showSecond } from '../pending-sign-in.ts';
import { INVALID_CODE, INVALID_TOKEN, refusalOfPending, resumed } from './verify.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'limits' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly secondFactors: Pick<SecondFactors, 'enrolTotp' | 'confirmTotp' | 'use'>;
  readonly passkeys: Pick<Passkeys, 'add' | 'creation' | 'look' | 'request' | 'use'>;
  readonly mfaTokens: Pick<MfaTokens, 'read'>;
  readonly endAttempt: Pick<EndAttempt, 'asBegun'>;
  readonly clearLockout: ClearLockout;
};

const Method = named('SecondFactorMethod', Type.Enum(['totp', 'recovery', 'passkey']));
const COMMON = {
  tag: 'Authentication',
  method: 'post',
  who: 'anyone',
  tenant: 'optional',
  area: 'user',
  retry: 'never',
  noStore: true,
  recordsItsRefusals: true,
  bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
} as const;

export const challengeRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'challenge_second_factor',
      summary: 'Prepare the second factor of a sign-in',
      path: '/api/v1/auth/mfa/challenge',
      body: closed({ mfa_token: Type.String(), method: Method }),
      ok: closed({
        challenge_id: Type.String(),
        options: Type.Optional(Type.Object({}, { additionalProperties: true })),
      }),
      refusals: {
        invalid_mfa_token: 401,
        mfa_token_expired: 410,
        too_many_attempts: 429,
        rate_limited: 429,
      },
    },
    async (request) => {
      const pending = await pendingOf(needs, request);
      if ('refused' in pending) return pending;
      const { claims, attempt, tenant } = pending;
      const taken = await needs.limits.take(LIMITS.secondFactorChallenges, claims.jti);
      if (!taken.allowed) return tooOften(taken);
      const { user } = attempt;
      if (claims.due !== 'enrolment') {
        if (request.body.method !== 'passkey') return { ok: { challenge_id: claims.jti } };
        const { challengeId, options } = await needs.passkeys.request(user, tenant);
        return { ok: { challenge_id: challengeId, options } };
      }
      const account = (await needs.userDirectory.emailOf(user)) ?? '';
      if (request.body.method === 'passkey') {
        const made = await needs.passkeys.creation({ user, account }, tenant);
        return { ok: { challenge_id: made.challengeId, options: made.options } };
      }
      const enrolled = await needs.secondFactors.enrolTotp(
        { user, name: null, account, issuer: tenant.displayName },
        await commandOf(needs, request, claims),
      );
      if (enrolled === 'erased') return INVALID_TOKEN;
      const { factorId, secret, url: otpauth_url } = enrolled;
      return { ok: { challenge_id: factorId, options: { secret, otpauth_url } } };
    },
  );

const Verify = closed({
  mfa_token: Type.String(),
  method: Method,
  code: Type.Optional(Type.String({ maxLength: 64 })),
  challenge_id: Type.Optional(Type.String({ maxLength: 128 })),
  response: Type.Optional(credentialField),
});

export const verifySecondFactorRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'verify_second_factor',
      summary: 'Show the second factor of a sign-in',
      path: '/api/v1/auth/mfa/verify',
      body: Verify,
      ok: SignedInWithSecondFactor,
      refusals: {
        invalid_mfa_token: 401,
        invalid_code: 401,
        mfa_token_expired: 410,
        enrolment_expired: 410,
        too_many_attempts: 429,
        rate_limited: 429,
      },
      waitsFor: ['sessions', 'users'],
    },
    async (request) => {
      const pending = await pendingOf(needs, request);
      if ('refused' in pending) return pending;
      const { claims, tenant, readAt } = pending;
      const command = await commandOf(needs, request, claims);
      const shown = await counted(needs.limits, request, {
        tenantId: tenant.id,
        userId: claims.sub,
        tried: () => show(needs, request, { pending, command }),
      });
      if ('refused' in shown) return shown;
      if (shown.fault !== undefined) return shown.fault;
      const end = { request, tenant, readAt, sid: claims.jti };
      const ended = await needs.endAttempt.asBegun(shown.attempt, end, command);
      if (ended.status === 'refused') return INVALID_TOKEN;
      if (claims.first === 'password') {
        await needs.clearLockout({ user: shown.attempt.user, ip: request.ip }, command);
      }
      const { recoveryCodes } = shown;
      const codes = recoveryCodes === undefined ? {} : { recovery_codes: [...recoveryCodes] };
      return { ok: { ...ended.signedIn, ...codes }, wrote: ended.wrote };
    },
  );

type Pending = {
  readonly claims: MfaClaims;
  readonly attempt: MetAttempt;
  readonly tenant: TenantFacts;
  readonly readAt: Date;
};

/** The sign-in that a token names, while something can still be shown for it. */
async function pendingOf(
  needs: Dependencies,
  request: Request<object, object, { readonly mfa_token: string }>,
) {
  const byIp = await needs.limits.look(LIMITS.codeFailuresByIp, request.ip);
  if (!byIp.allowed) return tooOften(byIp);
  const read = await needs.mfaTokens.read(request.body.mfa_token);
  const found = 'ok' in read ? await foundBy(needs, request, read.ok) : undefined;
  if (found !== undefined) return found;
  await needs.limits.take(LIMITS.codeFailuresByIp, request.ip);
  const isExpired = 'bad' in read && read.bad === 'expired';
  return isExpired ? ({ refused: 'mfa_token_expired' } as const) : INVALID_TOKEN;
}

async function foundBy(
  needs: Dependencies,
  request: Pick<Request<object, object, object>, 'tenantId'>,
  claims: MfaClaims,
): Promise<Pending | ReturnType<typeof refusalOfPending> | undefined> {
  const { tid: tenantId, sub, jti } = claims;
  if (request.tenantId !== '' && request.tenantId !== tenantId) return undefined;
  const readAt = needs.clock.now();
  const [tenant, user, { state }] = await Promise.all([
    needs.workspaces.tenant(tenantId),
    needs.userDirectory.byId(tenantId, sub),
    needs.streams.load(pendingSignIns, { tenantId, id: jti }),
  ]);
  if (tenant === undefined) return undefined;
  const attempt = resumed(claims, { user, settings: tenant.settings });
  if (attempt === undefined) return undefined;
  const fault = faultOf(state);
  return fault === undefined ? { claims, attempt, tenant, readAt } : refusalOfPending(fault);
}

const commandOf = (
  needs: Dependencies,
  request: Request<object, object, unknown>,
  { tid: tenantId, sub: id }: MfaClaims,
): Promise<Command> => needs.command(request, { tenantId, actor: { type: 'user', id } });

type Verifying = Request<object, object, Static<typeof Verify>>;

/** The factor is used up first: what was shown for a sign-in that is over may not be shown again either. */
async function show(
  needs: Dependencies,
  { body: { method, ...shown } }: Verifying,
  { pending, command }: { readonly pending: Pending; readonly command: Command },
) {
  const { claims, attempt, tenant } = pending;
  const { user } = attempt;
  const right =
    claims.due === 'enrolment'
      ? await enrolled(needs, { user, tenant, method, shown }, command)
      : await used(needs, { user, tenant, method, shown }, command);
  if (right === 'expired') {
    return { isWrong: false, fault: { refused: 'enrolment_expired' } } as const;
  }
  const isRight = right !== undefined;
  const own = { ...command, id: uuidFrom(command.id, 'second factor') };
  const of = { userId: user.id, method, isRight, now: command.now };
  const decided = await needs.streams.decideOn(pendingSignIns, claims.jti, own, (state) =>
    showSecond(of, state),
  );
  if (!decided.accepted) {
    const { reason } = decided;
    const fault = reason === 'invalid_code' ? INVALID_CODE : refusalOfPending(reason);
    return { isWrong: !isRight, fault };
  }
  return { isWrong: false, attempt: meetSecond(attempt, method), ...right } as const;
}

type Shown = {
  readonly method: SecondFactor;
  readonly shown: Pick<Static<typeof Verify>, 'code' | 'challenge_id' | 'response'>;
};
type Right = { readonly recoveryCodes?: readonly string[] };

async function used(
  { secondFactors, passkeys }: Dependencies,
  of: Shown & { readonly user: MetAttempt['user']; readonly tenant: TenantFacts },
  command: Command,
): Promise<Right | undefined> {
  const { user, tenant, method, shown } = of;
  if (method !== 'passkey') {
    const { code = '' } = shown;
    return (await secondFactors.use(user, { method, code }, command)) === undefined
      ? undefined
      : {};
  }
  const { challenge_id: challengeId, response } = shown;
  if (challengeId === undefined || response === undefined) return undefined;
  const passkey = await passkeys.look({ challengeId, response }, tenant);
  if (passkey === 'expired' || 'invalid' in passkey) return undefined;
  return (await passkeys.use(passkey, user, command)) ? {} : undefined;
}

async function enrolled(
  { secondFactors, passkeys }: Dependencies,
  of: Shown & { readonly user: MetAttempt['user']; readonly tenant: TenantFacts },
  command: Command,
): Promise<Right | 'expired' | undefined> {
  const { user, tenant, method, shown } = of;
  const { challenge_id: challengeId, code = '', response } = shown;
  if (challengeId === undefined) return undefined;
  if (method === 'passkey') {
    if (response === undefined) return undefined;
    const add = { user, name: null, challengeId, response };
    const added = await passkeys.add(add, tenant, command);
    if ('passkey' in added) return {};
    return added.refused === 'challenge_expired' ? 'expired' : undefined;
  }
  if (method !== 'totp') return undefined;
  const confirm = { userId: user.id, factorId: challengeId, code };
  const confirmed = await secondFactors.confirmTotp(confirm, command);
  if (confirmed.confirmed) return { recoveryCodes: confirmed.recoveryCodes };
  return confirmed.reason === 'expired' ? 'expired' : undefined;
}
