/**
 * Signs in by a passkey. A passkey is two factors in one, so no second factor is due. The request for a challenge names
 * no user and looks none up.
 */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { exists, type UserDirectory } from '../../../accounts/accounts.module.ts';
import type { Passkeys } from '../../../factors/factors.module.ts';
import {
  challengeFields,
  closed,
  credentialField,
  SignedIn,
  tooOften,
} from '../../../http/answers.ts';
import { countingRefusals } from '../../../http/counting-refusals.ts';
import { emailField } from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import { begin, meet, type Refused, refuse } from '../../attempts/attempt.ts';
import { countSignIn, type EndAttempt, type MetAttemptOf } from '../../attempts/end-attempt.ts';
import { passkeyFailed, passkeyFailures } from '../passkey-failure.ts';
import { failureOf, INVALID_PASSKEY, refusalOfPasskey } from './sign-in.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'limits' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly passkeys: Pick<Passkeys, 'look' | 'request' | 'use'>;
  readonly endAttempt: Pick<EndAttempt, 'inSession'>;
};

const COMMON = {
  tag: 'Authentication',
  method: 'post',
  who: 'anyone',
  repeat: 'never',
  response: { isSecret: true },
} as const;

export const passkeySignInOptionsRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'passkey_sign_in_options',
      summary: 'What a browser needs to show a passkey',
      description:
        'Answers a challenge for `navigator.credentials.get`, valid for 5 minutes and answered once. Nobody is looked up: an `email` changes nothing.',
      path: '/api/v1/auth/passkeys/options',
      // The address is only for the client's own form. A response that depended on it would reveal which addresses have
      // accounts.
      body: closed({ email: Type.Optional(emailField) }),
      input: { isOptional: true },
      ok: closed(challengeFields),
      refusals: { passkeys_login_disabled: 403, tenant_not_found: 404, rate_limited: 429 },
    },
    async (request) => {
      const taken = await needs.limits.take([LIMITS.passkeyChallengesByIp, request.ip]);
      if (!taken.allowed) return tooOften(taken);
      const tenant = await needs.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      if (!tenant.settings.auth_methods.includes('passkeys')) {
        return { refused: 'passkeys_login_disabled' };
      }
      const { challengeId, options } = await needs.passkeys.request(null, tenant);
      return { ok: { challenge_id: challengeId, options } };
    },
  );

const Body = closed({ challenge_id: Type.String({ maxLength: 128 }), response: credentialField });
type Asked = Request<object, object, Static<typeof Body>>;

export const passkeySignInRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'sign_in_by_passkey',
      summary: 'Sign in by a passkey',
      description: 'Signs a user in by the answer of a passkey. No second factor is asked for.',
      path: '/api/v1/auth/passkeys/verify',
      body: Body,
      ok: SignedIn,
      refusals: {
        invalid_passkey: 401,
        email_not_verified: 403,
        passkeys_login_disabled: 403,
        tenant_not_found: 404,
        challenge_expired: 410,
        rate_limited: 429,
      },
      consistency: { waitsFor: ['sessions', 'users'] },
    },
    async (request) => {
      const tenant = await needs.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return { refused: 'tenant_not_found' };
      const misses = [[LIMITS.codeFailuresByIp, request.ip]] as const;
      return await countingRefusals(needs.limits, misses, () => signedIn(needs, request, tenant));
    },
  );

async function signedIn(needs: Dependencies, request: Asked, tenant: TenantFacts) {
  const met = await passkeyAttempt(needs, request, tenant);
  if ('refused' in met) return met;
  const { attempt, command, readAt } = met;
  const ended = await needs.endAttempt.inSession(attempt, { request, tenant, readAt }, command);
  return ended.status === 'session'
    ? { ok: ended.signedIn, wrote: ended.wrote }
    : refusalOfPasskey(ended.status === 'refused' ? ended : refuse('invalid_credentials'));
}

export type ShownPasskey = Static<typeof Body>;
type PasskeyRefusal =
  | { readonly refused: 'challenge_expired' }
  | ReturnType<typeof refusalOfPasskey>;

/** Returns the attempt with its passkey verified, or the refusal, which is recorded. */
export async function passkeyAttempt(
  needs: Omit<Dependencies, 'endAttempt' | 'limits' | 'workspaces'>,
  request: Request<unknown, unknown, ShownPasskey>,
  tenant: TenantFacts,
): Promise<PasskeyRefusal | MetAttemptOf<'passkeys'>> {
  const { challenge_id: challengeId, response } = request.body;
  const shown = await needs.passkeys.look({ challengeId, response }, tenant);
  if (shown === 'expired') return { refused: 'challenge_expired' };
  if ('invalid' in shown) {
    await recordFailure(needs, request, { tenant, userId: shown.userId, attempt: WRONG });
    return INVALID_PASSKEY;
  }
  const readAt = needs.clock.now();
  const user = await needs.userDirectory.byId(tenant.id, shown.userId);
  const actor = { type: 'user', id: shown.userId } as const;
  const command = await needs.command(request, { tenantId: tenant.id, actor });
  const isRight = exists(user) && (await needs.passkeys.use(shown, user, command));
  const { settings } = tenant;
  const attempt = meet(begin({ via: 'login', first: 'passkeys', user, settings }), isRight);
  countSignIn(attempt);
  if (attempt.status === 'refused') {
    await recordFailure(needs, request, { tenant, userId: shown.userId, attempt });
    return refusalOfPasskey(attempt);
  }
  return { attempt, command, tenant, readAt };
}

const WRONG = refuse('invalid_credentials');

async function recordFailure(
  needs: Pick<Dependencies, 'command' | 'streams'>,
  request: Request<unknown, unknown, ShownPasskey>,
  of: {
    readonly tenant: TenantFacts;
    readonly userId: string | null;
    readonly attempt: Refused;
  },
): Promise<void> {
  const { tenant, userId, attempt } = of;
  const reason = failureOf(attempt.reason);
  if (reason === undefined) return;
  const actor =
    userId === null
      ? ({ type: 'system', id: 'identity' } as const)
      : ({ type: 'user', id: userId } as const);
  const command = await needs.command(request, { tenantId: tenant.id, actor });
  await needs.streams.decideOn(passkeyFailures, command.id, command, {
    isNew: true,
    decide: () => passkeyFailed({ userId, reason }, command.now),
  });
}
