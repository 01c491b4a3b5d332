/**
 * Cancels a change of address through the link that was mailed to the present address, which the person had declared
 * out of reach.
 */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  type EmailChanges,
  exists,
  standsFor,
  type UserDirectory,
} from '../../accounts/accounts.module.ts';
import { tenantOfToken } from '../../adapters/link-token.ts';
import { closed, PASSWORD_BODY_MAX_BYTES } from '../../http/answers.ts';
import { countingRefusals } from '../../http/counting-refusals.ts';
import { LIMITS } from '../../http/limits.ts';
import type { MailedFault, MailOutbox } from '../../mail/mail.module.ts';
import {
  type LinkPageDependencies,
  LinkQuery,
  linkAnswer,
  pastedToken,
  showLinkPage,
} from '../../pages/link-page.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';

export type StopDependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'limits'> &
  Pick<LinkPageDependencies, 'onward'> & {
    readonly emailChanges: Pick<EmailChanges, 'stop'>;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem'>;
    readonly userDirectory: Pick<UserDirectory, 'byId'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
  };

const PATH = '/api/v1/auth/email-change/stop';
const REFUSALS = { invalid_link: 401, link_expired: 410, rate_limited: 429 } as const;

export const stopRoutes = (deps: StopDependencies): readonly Endpoint[] => [
  stopEmailChangeRoute(deps),
  stopPageRoute(deps),
];

const stopEmailChangeRoute = (deps: StopDependencies): Endpoint =>
  endpoint(
    {
      name: 'stop_email_change',
      summary: 'Stop a change of an e-mail address by a mailed link',
      description:
        'Stops a change for which the present address was said to be out of reach, by the secret of the link that was mailed there. It works until the change is in force.',
      tag: 'Authentication',
      method: 'post',
      path: PATH,
      who: 'anyone',
      tenant: 'optional',
      repeat: 'never',
      body: closed({ token: Type.String() }),
      input: { takesForm: true, limitBytes: PASSWORD_BODY_MAX_BYTES },
      response: { orPage: true, isSecret: true },
      ok: closed({ status: Type.Literal('email change stopped') }),
      refusals: REFUSALS,
    },
    async (request) => {
      const token = pastedToken(request.body.token);
      const tenantId = tenantOfToken(token) ?? '';
      const kind = 'email_change_stop';
      const of = { kind, request, refusals: REFUSALS, action: PATH, token } as const;
      return linkAnswer(deps, { ...of, tenantId }, await stopped(deps, request, token));
    },
  );

/** The target of the mail's link if the tenant has no page of its own. */
const stopPageRoute = (deps: Pick<StopDependencies, 'workspaces'>): Endpoint =>
  endpoint(
    {
      name: 'stop_email_change_page',
      summary: 'Page of the link to stop a change of an address',
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
    async (request) => showLinkPage(deps, 'email_change_stop', request, PATH),
  );

const INVALID = { refused: 'invalid_link' } as const;
const refusalOfLink = (linkFault: MailedFault) =>
  linkFault === 'expired'
    ? ({ refused: 'link_expired', linkFault } as const)
    : ({ ...INVALID, linkFault } as const);

async function stopped(
  deps: StopDependencies,
  request: Request<unknown, unknown, unknown>,
  token: string,
) {
  const misses = [[LIMITS.secretFailuresByIp, request.ip]] as const;
  return await countingRefusals(deps.limits, misses, async () => {
    const tenantId = tenantOfToken(token) ?? '';
    const named = request.tenantId === '' || request.tenantId === tenantId;
    if (!named || (await deps.workspaces.tenant(tenantId)) === undefined) return INVALID;
    const at = { tenantId, now: deps.clock.now() };
    const peeked = await deps.mailOutbox.peek('email_change_stop', token, at);
    if ('fault' in peeked) return refusalOfLink(peeked.fault);
    const { userId, mailbox, basis } = peeked;
    const user = await deps.userDirectory.byId(tenantId, userId);
    if (!exists(user) || user.emailHash !== mailbox || !standsFor(user, basis)) return INVALID;
    const actor = { type: 'user', id: userId } as const;
    const command = await deps.command(request, { tenantId, actor });
    const redeemed = await deps.mailOutbox.redeem('email_change_stop', token, command);
    if ('fault' in redeemed) return refusalOfLink(redeemed.fault);
    const wrote = await deps.emailChanges.stop({ tenantId, userId, by: 'link' }, command);
    return { ok: { status: 'email change stopped' as const }, wrote };
  });
}
