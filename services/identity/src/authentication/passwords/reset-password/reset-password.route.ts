/** Sets a new password through a mailed link. Every session ends, and the address is proven. */
import { refuse } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import {
  endTokens,
  exists,
  isReusedPassword,
  type Passwords,
  passwordFault,
  setPassword,
  standsFor,
  type UserDirectory,
  users,
} from '../../../accounts/accounts.module.ts';
import { tenantOfToken } from '../../../adapters/link-token.ts';
import { closed, message, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import { countingRefusals } from '../../../http/counting-refusals.ts';
import { newPasswordField } from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailedFault, MailOutbox } from '../../../mail/mail.module.ts';
import {
  type LinkPageDependencies,
  LinkQuery,
  linkAnswer,
  pastedToken,
  showLinkPage,
} from '../../../pages/link-page.ts';
import { countAliveSessions } from '../../../sessions/sessions.module.ts';
import { tokensBeforeAt } from '../../../streams/tokens-before.ts';
import {
  TENANT_DEFAULTS,
  type TenantFacts,
  type Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { endBlocks } from '../../attempts/end-blocks.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'database' | 'limits' | 'sealer' | 'streams'
> &
  Pick<LinkPageDependencies, 'onward'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId' | 'seal'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem'>;
    readonly passwords: Pick<Passwords, 'hash' | 'matches' | 'objectionTo'>;
  };

const PATH = '/api/v1/auth/reset-password';
const Body = closed({ token: Type.String(), new_password: newPasswordField });
type Asked = Request<object, object, Static<typeof Body>>;

const REFUSALS = {
  password_too_short: 400,
  password_too_long: 400,
  password_too_weak: 400,
  password_breached: 400,
  password_reused: 400,
  invalid_reset_token: 401,
  reset_token_expired: 410,
  rate_limited: 429,
} as const;

export const resetPasswordRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'reset_password',
      repeat: 'never',
      summary: 'Set a new password by a mailed link',
      description:
        'Sets a new password by the secret of a mailed link, which works once. It ends all sessions and proves the address.',
      tag: 'Authentication',
      method: 'post',
      path: PATH,
      who: 'anyone',
      tenant: 'optional',
      body: Body,
      input: { takesForm: true, limitBytes: PASSWORD_BODY_MAX_BYTES },
      response: { orPage: true },
      ok: message,
      refusals: REFUSALS,
      consistency: { waitsFor: ['users'] },
    },
    async (given) => {
      const token = pastedToken(given.body.token);
      const request = { ...given, body: { ...given.body, token } };
      const of = { kind: 'reset', request, refusals: REFUSALS, action: PATH, token } as const;
      const tenantId = tenantOfToken(token) ?? '';
      return linkAnswer(needs, { ...of, tenantId }, await answered(needs, request));
    },
  );

async function answered(needs: Dependencies, request: Asked) {
  const { token, new_password: password } = request.body;
  const tenantId = tenantOfToken(token) ?? '';
  const tenant = await needs.workspaces.tenant(tenantId);
  const policy = (tenant?.settings ?? TENANT_DEFAULTS).password_policy;
  const fault = passwordFault(password, policy);
  if (fault !== undefined) return { refused: fault };
  const named = request.tenantId === '' || request.tenantId === tenantId;
  const misses = [[LIMITS.secretFailuresByIp, request.ip]] as const;
  return await countingRefusals(needs.limits, misses, async () =>
    tenant === undefined || !named ? INVALID : reset(needs, request, tenant),
  );
}

const INVALID = { refused: 'invalid_reset_token' } as const;
const EXPIRED = { refused: 'reset_token_expired' } as const;
const refusalOfLink = (linkFault: MailedFault) =>
  linkFault === 'expired' ? { ...EXPIRED, linkFault } : { ...INVALID, linkFault };

async function reset(
  needs: Dependencies,
  request: Asked,
  { id: tenantId, settings: { password_policy: policy } }: TenantFacts,
) {
  const { mailOutbox, passwords, userDirectory, streams } = needs;
  const { token, new_password: password } = request.body;
  // A hash is expensive, so an invalid token is refused before it. The token is consumed only after it.
  const peeked = await mailOutbox.peek('reset', token, { tenantId, now: needs.clock.now() });
  if ('fault' in peeked) return refusalOfLink(peeked.fault);
  const { userId, basis } = peeked;
  const weakness = await passwords.objectionTo(password, policy, tenantId);
  if (weakness !== undefined) return { refused: weakness } as const;
  const before = await userDirectory.byId(tenantId, userId);
  if (!standsFor(before, basis)) return INVALID;
  if (
    exists(before) &&
    (await isReusedPassword(needs, { user: before, password, policy, tenantId }))
  ) {
    return { refused: 'password_reused' } as const;
  }
  const phc = await passwords.hash(password, tenantId);
  const command = await needs.command(request, {
    tenantId,
    actor: { type: 'user', id: userId },
  });
  const redeemed = await mailOutbox.redeem('reset', token, command);
  if ('fault' in redeemed) return refusalOfLink(redeemed.fault);

  const hash = await userDirectory.seal({ tenantId, userId }, 'password_hash', phc);
  if (hash === 'erased') return INVALID;
  const { now } = command;
  const { all: count } = await countAliveSessions(needs.database, { tenantId, userId, now });
  const decided = await streams.decideOn(users, userId, command, (user) => {
    const reclaim = { count, tokensBefore: tokensBeforeAt(needs.clock.now()) };
    return standsFor(user, basis)
      ? setPassword({ hash, by: 'reset', keep: null, reclaim, now }, user)
      : refuse('not_found');
  });
  if (!decided.accepted || !exists(decided.state)) return INVALID;
  await endBlocks(needs, { user: decided.state, proof: 'mail' }, command);
  const ended = await endTokens(needs, { tenantId, userId }, command, decided.events);
  return { ok: { message: 'password reset' }, wrote: ended ?? decided.position };
}

/** The target of the mail's link if the tenant has no page of its own. */
export const resetPasswordPageRoute = (needs: Pick<Dependencies, 'workspaces'>): Endpoint =>
  endpoint(
    {
      name: 'reset_password_page',
      summary: 'Page of the link to set a new password',
      description:
        'Shows the page that the link to a new password opens. Opening it uses nothing up.',
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
    async (request) => showLinkPage(needs, 'reset', request, PATH),
  );
