/** The first factors of the hosted pages except passwords. The same checks and limits apply as at the API. */
import type { DerivedKeys } from '@cardea/crypto';
import type { Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import { standsFor, type UserDirectory } from '../../accounts/accounts.module.ts';
import { tenantOfToken } from '../../adapters/link-token.ts';
import { tooOften } from '../../http/answers.ts';
import { countingRefusals } from '../../http/counting-refusals.ts';
import { LIMITS } from '../../http/limits.ts';
import {
  type CodeRedemption,
  type MailedFault,
  type MailOutbox,
  mailboxOfChallenge,
  type SignInCode,
} from '../../mail/mail.module.ts';
import type { TenantFacts, Workspaces } from '../../workspaces/workspaces.module.ts';
import { begin, meet } from '../attempts/attempt.ts';
import { countSignIn } from '../attempts/end-attempt.ts';
import { mailedAttempt, type RedeemDependencies } from '../mailed-secrets/mailed-secret.ts';
import { INVALID_CODE, refusalOfCode } from '../mailed-secrets/verify-code/verify-code.ts';
import { passkeyAttempt, type ShownPasskey } from '../passkeys/sign-in/sign-in.route.ts';
import { refusalOfLogin } from '../passwords/log-in/password-attempt.ts';
import type { SocialHandover } from '../social/social-handover.ts';

type AnyRequest = Request<unknown, unknown, unknown>;

type Dependencies = RedeemDependencies &
  Parameters<typeof passkeyAttempt>[0] &
  Pick<ServiceDependencies, 'limits'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly codes: CodeRedemption;
    readonly codeKeys: DerivedKeys;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem'>;
    readonly socialHandover: Pick<SocialHandover, 'take'>;
  };

type ShownCode = {
  /** The kind of mail: a code alone, or a link together with a code. */
  readonly purpose: SignInCode;
  readonly challengeId: string;
  readonly code: string;
};

export type FirstFactors = ReturnType<typeof firstFactors>;

const NO_TENANT = { refused: 'tenant_not_found' } as const;
const DISABLED = { refused: 'login_disabled' } as const;
const INVALID_LINK = { refused: 'invalid_link' } as const;
const INVALID_STATE = { refused: 'invalid_state' } as const;
const EXPIRED_LINK = { refused: 'link_expired' } as const;

export function firstFactors(needs: Dependencies) {
  const failures = (limit: 'codeFailuresByIp' | 'secretFailuresByIp') =>
    counting(needs, LIMITS[limit]);
  const [byCodes, bySecrets] = [failures('codeFailuresByIp'), failures('secretFailuresByIp')];
  return {
    byPasskey: (request: AnyRequest, shown: ShownPasskey) =>
      byCodes(request, (tenant) => passkeyAttempt(needs, { ...request, body: shown }, tenant)),
    byCode: (request: AnyRequest, shown: ShownCode) =>
      byCodes(request, (tenant) => codeShown(needs, request, { tenant, ...shown })),
    byLink: (request: AnyRequest, shown: { readonly token: string }) =>
      bySecrets(request, (tenant) => linkShown(needs, request, { tenant, ...shown })),
    byProvider: (request: AnyRequest, shown: { readonly code: string }) =>
      bySecrets(request, (tenant) => sentBack(needs, request, { tenant, ...shown })),
    passkeyChallenge: async (request: AnyRequest) => {
      const taken = await needs.limits.take([LIMITS.passkeyChallengesByIp, request.ip]);
      if (!taken.allowed) return tooOften(taken);
      const tenant = await needs.workspaces.tenant(request.tenantId);
      if (tenant === undefined) return NO_TENANT;
      if (!tenant.settings.auth_methods.includes('passkeys')) return DISABLED;
      const { challengeId, options } = await needs.passkeys.request(null, tenant);
      return { ok: { challenge_id: challengeId, options } };
    },
  };
}

/** Counts failures by address. After too many, nothing is verified any more. */
const counting =
  ({ limits, workspaces }: Dependencies, limit: (typeof LIMITS)['codeFailuresByIp']) =>
  async <Answer extends object>(
    request: AnyRequest,
    tried: (tenant: TenantFacts) => Promise<Answer>,
  ) => {
    const tenant = await workspaces.tenant(request.tenantId);
    if (tenant === undefined) return NO_TENANT;
    return await countingRefusals(limits, [[limit, request.ip]], () => tried(tenant));
  };

async function codeShown(
  needs: Dependencies,
  request: AnyRequest,
  of: ShownCode & { readonly tenant: TenantFacts },
) {
  const { tenant, purpose, code: typed } = of;
  const { id: tenantId, settings } = tenant;
  const named = mailboxOfChallenge(needs.codeKeys, tenantId, of.challengeId);
  if (named === undefined) return INVALID_CODE;
  const format = settings.otp.format;
  const found = await needs.codes.find({ purpose, format, typed, ...named }, tenantId);
  if (found === undefined) {
    const command = await needs.command(request, { tenantId });
    return refusalOfCode(await needs.codes.miss({ purpose, ...named }, command));
  }
  const met = await mailedAttempt(needs, request, {
    factor: purpose,
    tenant,
    secret: found,
    redeem: (command) => needs.codes.redeem(found, command),
  });
  if (!('fault' in met)) return met;
  return met.fault === 'login_disabled' ? DISABLED : refusalOfCode(met.fault);
}

async function linkShown(
  needs: Dependencies,
  request: AnyRequest,
  { tenant, token }: { readonly tenant: TenantFacts; readonly token: string },
) {
  const tenantId = tenant.id;
  if (tenantOfToken(token) !== tenantId) return INVALID_LINK;
  const at = { tenantId, now: needs.clock.now() };
  const peeked = await needs.mailOutbox.peek('magic_link', token, at);
  if ('fault' in peeked) return refusalOfLink(peeked.fault);
  const met = await mailedAttempt(needs, request, {
    factor: 'magic_link',
    tenant,
    secret: peeked,
    redeem: async (command) => {
      const redeemed = await needs.mailOutbox.redeem('magic_link', token, command);
      return 'fault' in redeemed ? redeemed.fault : 'redeemed';
    },
  });
  if (!('fault' in met)) return met;
  return met.fault === 'login_disabled' ? DISABLED : refusalOfLink(met.fault);
}

const refusalOfLink = (linkFault: MailedFault) =>
  linkFault === 'expired' ? EXPIRED_LINK : { ...INVALID_LINK, linkFault };

/** Completes a sign-in by a provider. The callback has found the user already. */
async function sentBack(
  needs: Dependencies,
  request: AnyRequest,
  { tenant, code }: { readonly tenant: TenantFacts; readonly code: string },
) {
  const person = await needs.socialHandover.take(code, tenant.id);
  if (person === undefined) return INVALID_STATE;
  const readAt = needs.clock.now();
  const { userId, provider, basis } = person;
  const user = await needs.userDirectory.byId(tenant.id, userId);
  if (!standsFor(user, basis)) return INVALID_STATE;
  const command = await needs.command(request, {
    tenantId: tenant.id,
    actor: { type: 'user', id: userId },
  });
  const { settings } = tenant;
  const attempt = meet(begin({ via: 'login', first: provider, user, settings }), true);
  countSignIn(attempt);
  if (attempt.status !== 'refused') return { attempt, command, tenant, readAt };
  return attempt.reason === 'disabled'
    ? ({ refused: 'user_inactive' } as const)
    : refusalOfLogin(attempt);
}
