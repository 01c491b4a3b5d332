/**
 * Signs in by a mailed link, which works once. The result is an access token without a session. Opening the link only
 * shows a page.
 */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import { tenantOfToken } from '../../../adapters/link-token.ts';
import {
  closed,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorDue,
  SignedInByMail,
} from '../../../http/answers.ts';
import { countingRefusals } from '../../../http/counting-refusals.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailedFault, MailOutbox } from '../../../mail/mail.module.ts';
import {
  type LinkPageDependencies,
  LinkQuery,
  linkAnswer,
  pastedToken,
  showLinkPage,
} from '../../../pages/link-page.ts';
import type { TenantFacts, Workspaces } from '../../../workspaces/workspaces.module.ts';
import { signInBy, type VerifyDependencies } from '../mailed-secret.ts';

type Dependencies = VerifyDependencies &
  Pick<ServiceDependencies, 'limits'> &
  Pick<LinkPageDependencies, 'onward'> & {
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem'>;
  };

const PATH = '/api/v1/auth/magic-link/verify';
const Body = closed({ token: Type.String() });
type Asked = Request<object, object, Static<typeof Body>>;

const REFUSALS = {
  invalid_link: 401,
  magic_link_login_disabled: 403,
  link_expired: 410,
  rate_limited: 429,
} as const;

export const verifyLinkRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'verify_magic_link',
      summary: 'Sign in by a mailed link',
      description:
        'Signs a user in by the secret of a mailed link, which works once. The answer has an access token and no session, or `mfa_required`.',
      tag: 'Authentication',
      method: 'post',
      path: PATH,
      who: 'anyone',
      tenant: 'optional',
      repeat: 'never',
      body: Body,
      input: { takesForm: true, limitBytes: PASSWORD_BODY_MAX_BYTES },
      response: { orPage: true, isSecret: true },
      ok: Type.Union([SignedInByMail, SecondFactorDue]),
      refusals: REFUSALS,
      consistency: { waitsFor: ['users'] },
    },
    async (given) => {
      const token = pastedToken(given.body.token);
      const request = { ...given, body: { token } };
      const of = { kind: 'magic', request, refusals: REFUSALS, action: PATH, token } as const;
      const tenantId = tenantOfToken(token) ?? '';
      return linkAnswer(needs, { ...of, tenantId }, await answered(needs, request));
    },
  );

async function answered(needs: Dependencies, request: Asked) {
  const misses = [[LIMITS.secretFailuresByIp, request.ip]] as const;
  return await countingRefusals(needs.limits, misses, async () => {
    const tenantId = tenantOfToken(request.body.token) ?? '';
    const tenant = await needs.workspaces.tenant(tenantId);
    const named = request.tenantId === '' || request.tenantId === tenantId;
    return tenant === undefined || !named ? INVALID : verified(needs, request, tenant);
  });
}

const INVALID = { refused: 'invalid_link' } as const;
const DISABLED = { refused: 'magic_link_login_disabled' } as const;
const EXPIRED = { refused: 'link_expired' } as const;

async function verified(
  { mailOutbox, ...needs }: Dependencies,
  request: Asked,
  tenant: TenantFacts,
) {
  const { token } = request.body;
  const at = { tenantId: tenant.id, now: needs.clock.now() };
  const peeked = await mailOutbox.peek('magic_link', token, at);
  if ('fault' in peeked) return refusalOfLink(peeked.fault);
  const answer = await signInBy(needs, request, {
    factor: 'magic_link',
    tenant,
    secret: peeked,
    redeem: async (command) => {
      const redeemed = await mailOutbox.redeem('magic_link', token, command);
      return 'fault' in redeemed ? redeemed.fault : 'redeemed';
    },
  });
  if (answer.fault === undefined) return answer;
  return answer.fault === 'login_disabled' ? DISABLED : refusalOfLink(answer.fault);
}

const refusalOfLink = (linkFault: MailedFault) =>
  linkFault === 'expired' ? { ...EXPIRED, linkFault } : { ...INVALID, linkFault };

/** The target of the mail's link if the tenant has no page of its own. */
export const magicLinkPageRoute = (needs: Pick<Dependencies, 'workspaces'>): Endpoint =>
  endpoint(
    {
      name: 'magic_link_page',
      summary: 'Page of the link to sign in by',
      description: 'Shows the page that a mailed link opens. Opening it uses nothing up.',
      tag: 'Authentication',
      method: 'get',
      path: PATH,
      query: LinkQuery,
      who: 'anyone',
      tenant: 'none',
      ok: Type.String(),
      response: { mediaType: 'text/html' },
      refusals: {},
    },
    async (request) => showLinkPage(needs, 'magic', request, PATH),
  );
