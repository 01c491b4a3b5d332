/** The second factor of a pending sign-in: finds its user and verifies the factor. */
import type { Command } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import type { Passkeys, SecondFactors } from '../../factors/factors.module.ts';
import { countingRefusals } from '../../http/counting-refusals.ts';
import { LIMITS } from '../../http/limits.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import { type MetAttempt, meetSecond, type SecondFactor } from '../attempts/attempt.ts';
import type { GuessSecondFactor } from '../attempts/guess-second-factor.ts';
import type { MfaClaims, MfaTokens } from '../attempts/mfa-token.ts';
import type { ClearLockout } from '../attempts/verify-password.ts';
import { faultOf, pendingSignIns, showSecond } from './pending-sign-in.ts';
import { INVALID_CODE, INVALID_TOKEN, refusalOfPending, resumed } from './verify/verify.ts';

export type SecondFactorDependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'limits' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly secondFactors: Pick<
    SecondFactors,
    'confirmTotp' | 'enrolTotp' | 'renewRecoveryCodes' | 'use'
  >;
  readonly passkeys: Pick<Passkeys, 'add' | 'creation' | 'look' | 'request' | 'use'>;
  readonly mfaTokens: Pick<MfaTokens, 'read'>;
  readonly clearLockout: ClearLockout;
  readonly guessSecondFactor: GuessSecondFactor;
};

type Credential = Parameters<Passkeys['look']>[0]['response'];

export type ShownSecond = {
  readonly mfa_token: string;
  readonly method: SecondFactor;
  readonly code?: string;
  readonly challenge_id?: string;
  readonly response?: Credential;
};

/** Returns the attempt with its second factor verified, or the refusal. */
export async function secondFactorShown(needs: SecondFactorDependencies, request: Verifying) {
  const pending = await pendingOf(needs, request);
  if ('refused' in pending) return pending;
  const { claims, tenant, readAt } = pending;
  const command = await commandOf(needs, request, claims);
  const tried = () => show(needs, request, { pending, command });
  const { method } = request.body;
  const { user } = pending.attempt;
  const shown =
    claims.due === 'enrolment'
      ? await tried()
      : await needs.guessSecondFactor({ user, method, ip: request.ip }, tried, command);
  if ('refused' in shown) return shown;
  if (shown.fault !== undefined) return shown.fault;
  const { attempt, recoveryCodes } = shown;
  if (claims.first === 'password') {
    await needs.clearLockout({ user: attempt.user, ip: request.ip }, command);
  }
  return { attempt, recoveryCodes, command, tenant, readAt, sid: claims.jti };
}

export type Pending = {
  readonly claims: MfaClaims;
  readonly attempt: MetAttempt;
  readonly tenant: TenantFacts;
  readonly readAt: Date;
};

/** Finds the sign-in that a token names, if it can still be completed. */
export async function pendingOf(
  needs: SecondFactorDependencies,
  request: Request<object, object, { readonly mfa_token: string }>,
) {
  const misses = [[LIMITS.codeFailuresByIp, request.ip]] as const;
  return await countingRefusals(needs.limits, misses, async () => {
    const read = await needs.mfaTokens.read(request.body.mfa_token);
    const found = 'ok' in read ? await foundBy(needs, request, read.ok) : undefined;
    if (found !== undefined) return found;
    const isExpired = 'bad' in read && read.bad === 'expired';
    return isExpired ? ({ refused: 'mfa_token_expired' } as const) : INVALID_TOKEN;
  });
}

async function foundBy(
  needs: SecondFactorDependencies,
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

export const commandOf = (
  needs: SecondFactorDependencies,
  request: Request<object, object, unknown>,
  { tid: tenantId, sub: id }: MfaClaims,
): Promise<Command> => needs.command(request, { tenantId, actor: { type: 'user', id } });

type Verifying = Request<object, object, ShownSecond>;

/** The factor is consumed first. A code that was used for an ended sign-in may not be used again either. */
async function show(
  needs: SecondFactorDependencies,
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
  readonly shown: Omit<ShownSecond, 'mfa_token' | 'method'>;
};
type Right = { readonly recoveryCodes?: readonly string[] };

async function used(
  { secondFactors, passkeys }: SecondFactorDependencies,
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
  { secondFactors, passkeys }: SecondFactorDependencies,
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
    if ('passkey' in added) return await withRecoveryCodes({ secondFactors }, user, command);
    return added.refused === 'challenge_expired' ? 'expired' : undefined;
  }
  if (method !== 'totp') return undefined;
  const confirm = { userId: user.id, factorId: challengeId, code };
  const confirmed = await secondFactors.confirmTotp(confirm, command);
  if (confirmed.confirmed) return { recoveryCodes: confirmed.recoveryCodes };
  return confirmed.reason === 'expired' ? 'expired' : undefined;
}

/** A person who loses their only passkey can still sign in by a recovery code, as with an authenticator app. */
async function withRecoveryCodes(
  { secondFactors }: Pick<SecondFactorDependencies, 'secondFactors'>,
  { id, secondFactors: { recoveryId } }: MetAttempt['user'],
  command: Command,
): Promise<Right> {
  if (recoveryId !== null) return {};
  const own = { ...command, id: uuidFrom(command.id, 'recovery codes') };
  const renewed = await secondFactors.renewRecoveryCodes(id, own);
  return 'codes' in renewed ? { recoveryCodes: renewed.codes } : {};
}
