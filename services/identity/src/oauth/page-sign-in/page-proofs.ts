/** Confirms a page's sign-in by a factor and issues the page a token that states the confirmation. */
import { identityCalls } from '@cardea/contracts';
import type { Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { Peers, ServiceDependencies } from '@cardea/service';
import { type ExistingUser, exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import {
  type ConfirmSignIn,
  isEnough,
  STEP_UP_REFUSALS,
} from '../../authentication/authentication.module.ts';
import { hasHostedPasskeys, type Passkeys } from '../../factors/factors.module.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import type { PageTokens } from './page-tokens.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'settings'> & {
  readonly confirmSignIn: ConfirmSignIn;
  readonly pageTokens: PageTokens;
  readonly passkeys: Pick<Passkeys, 'request'>;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};
type Identity = Peers['identity'];
type StepUp = Parameters<Identity['stepUp']>[0];
type Factor = Parameters<ConfirmSignIn>[1];

const NOTHING = { ways: [], challenge: null } as const;
const ENDED = { refused: 'user_session_required', status: 401, retryAfter: null } as const;
const NEVER = new AbortController().signal;
/** An authenticator app's code has six digits; a recovery code is longer. */
const TOTP = /^\d{6}$/;

export function pageProofs(needs: Dependencies): Pick<Identity, 'proofs' | 'stepUp'> {
  /** The person of a page token whose sign-in has not ended. */
  const personOf = async (token: string) => {
    const signIn = await needs.pageTokens.aliveSignIn(token);
    if (signIn === undefined) return undefined;
    const [tenant, user] = await Promise.all([
      needs.workspaces.tenant(signIn.tenantId),
      needs.userDirectory.byId(signIn.tenantId, signIn.userId),
    ]);
    return tenant === undefined || !exists(user) ? undefined : { signIn, tenant, user };
  };
  return {
    proofs: async ({ token, withChallenge }) => {
      const person = await personOf(token);
      if (person === undefined) return NOTHING;
      const { user, tenant } = person;
      const ways = waysOf(user, tenant, needs.settings);
      if (!withChallenge || !ways.includes('passkey')) return { ways, challenge: null };
      const { challengeId, options } = await needs.passkeys.request(user, tenant);
      return { ways, challenge: { challenge_id: challengeId, options } };
    },
    stepUp: async (step) => {
      const person = await personOf(step.token);
      if (person === undefined) return ENDED;
      const { signIn, tenant, user } = person;
      const { tenantId, userId, browserSid: sid } = signIn;
      const actor = { type: 'user', id: userId } as const;
      const command = await needs.command(requestOf(step, tenantId), { tenantId, actor });
      const of = { tenant, user, sid, ip: step.ip };
      const confirmed = await needs.confirmSignIn(of, factorOf(step.proof), command);
      if ('refused' in confirmed && confirmed.refused !== undefined) {
        return refusalOf(confirmed);
      }
      const { auth_time: authTime, amr } = confirmed.session;
      const token = await needs.pageTokens.issue({ ...signIn, authTime, amr });
      return token === undefined ? ENDED : { token };
    },
  };
}

function waysOf(
  user: ExistingUser,
  tenant: TenantFacts,
  settings: Dependencies['settings'],
): ('passkey' | 'code' | 'password')[] {
  const { factors, recoveryId } = user.secondFactors;
  const hasCode = recoveryId !== null || factors.some(({ type }) => type === 'totp');
  const isPasswordEnough =
    user.passwordHash !== null && isEnough('password', user, tenant.settings);
  const canShowPasskey =
    factors.some(({ type }) => type === 'passkey') && hasHostedPasskeys(tenant, settings);
  return [
    ...(canShowPasskey ? (['passkey'] as const) : []),
    ...(hasCode ? (['code'] as const) : []),
    ...(isPasswordEnough ? (['password'] as const) : []),
  ];
}

function factorOf(proof: StepUp['proof']): Factor {
  switch (proof.method) {
    case 'password':
      return proof;
    case 'passkey':
      return { ...proof, response: proof.response as NonNullable<Factor['response']> };
    case 'code': {
      const code = proof.code.replaceAll(/\s/g, '');
      return { method: TOTP.test(code) ? 'totp' : 'recovery', code };
    }
  }
}

/** A repeated call has the id of the first one, so that a code is not refused as already used. */
const requestOf = (
  { ip, userAgent, requestId, token }: StepUp,
  tenantId: string,
): Request<unknown, unknown, unknown> => ({
  params: undefined,
  query: undefined,
  body: undefined,
  principal: undefined,
  tenantId,
  appId: undefined,
  ip,
  userAgent,
  requestId,
  traceparent: undefined,
  commandId: uuidFrom(requestId, token, 'step up'),
  idempotency: undefined,
  asksForRole: false,
  operation: identityCalls.stepUp.name,
  headers: {},
  positionSeen: undefined,
  signal: NEVER,
  draining: NEVER,
  nextPart: async () => {},
  endTurn: () => {},
});

type Refused = Extract<Awaited<ReturnType<ConfirmSignIn>>, { readonly refused: string }>;

const refusalOf = (refusal: Refused) => ({
  refused: refusal.refused,
  status: STEP_UP_REFUSALS[refusal.refused],
  retryAfter: 'headers' in refusal ? refusal.headers['Retry-After'] : null,
});
