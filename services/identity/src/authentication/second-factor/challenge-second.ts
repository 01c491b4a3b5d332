/** Returns the data that is needed to verify a sign-in's second factor, or to enrol a required one. */
import type { Request } from '@cardea/http';
import { tooOften } from '../../http/answers.ts';
import { LIMITS } from '../../http/limits.ts';
import type { SecondFactor } from '../attempts/attempt.ts';
import { commandOf, pendingOf, type SecondFactorDependencies } from './show-second.ts';
import { INVALID_TOKEN } from './verify/verify.ts';

type Asked = Request<object, object, { readonly mfa_token: string; readonly method: SecondFactor }>;

export async function secondFactorChallenge(needs: SecondFactorDependencies, request: Asked) {
  const pending = await pendingOf(needs, request);
  if ('refused' in pending) return pending;
  const { claims, attempt, tenant } = pending;
  const taken = await needs.limits.take([LIMITS.secondFactorChallenges, claims.jti]);
  if (!taken.allowed) return tooOften(taken);
  const { user } = attempt;
  const { method } = request.body;
  if (claims.due !== 'enrolment') {
    if (method !== 'passkey') return { ok: { challenge_id: claims.jti } };
    const { challengeId, options } = await needs.passkeys.request(user, tenant);
    return { ok: { challenge_id: challengeId, options } };
  }
  const account = (await needs.userDirectory.emailOf(user)) ?? '';
  if (method === 'passkey') {
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
}
