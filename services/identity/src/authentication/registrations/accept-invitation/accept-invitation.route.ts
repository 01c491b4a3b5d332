/** The invited person creates their account through the mailed link. */
import { named } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type, { type Static } from 'typebox';
import type { ExistingUser, Join, Passwords } from '../../../accounts/accounts.module.ts';
import { tenantOfToken } from '../../../adapters/link-token.ts';
import {
  closed,
  PASSWORD_BODY_MAX_BYTES,
  SecondFactorDue,
  SignedInByMail,
  tokenFields,
} from '../../../http/answers.ts';
import { countingRefusals } from '../../../http/counting-refusals.ts';
import { displayNameField, newPasswordField } from '../../../http/input-fields.ts';
import { LIMITS } from '../../../http/limits.ts';
import type { MailOutbox } from '../../../mail/mail.module.ts';
import {
  type LinkPageDependencies,
  LinkQuery,
  linkAnswer,
  pastedToken,
  showLinkPage,
} from '../../../pages/link-page.ts';
import {
  TENANT_DEFAULTS,
  type TenantFacts,
  type Workspaces,
} from '../../../workspaces/workspaces.module.ts';
import { begin, meet } from '../../attempts/attempt.ts';
import type { EndAttempt } from '../../attempts/end-attempt.ts';
import {
  type Acceptance,
  acceptanceOf,
  INVALID_INVITATION,
  INVITATION_EXPIRED,
  objectionTo,
  refusalOf,
} from './accept-invitation.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'limits'> &
  Pick<LinkPageDependencies, 'onward'> & {
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly mailOutbox: Pick<MailOutbox, 'peek' | 'redeem'>;
    readonly passwords: Pick<Passwords, 'hash' | 'objectionTo'>;
    readonly invitations: Join;
    readonly endAttempt: EndAttempt;
  };

const PATH = '/api/v1/auth/invitations/accept';
const Body = closed({
  token: Type.String(),
  password: Type.Optional(newPasswordField),
  display_name: Type.Optional(displayNameField),
});
type Asked = Request<object, object, Static<typeof Body>>;

const REFUSALS = {
  invalid_request: 400,
  password_too_short: 400,
  password_too_long: 400,
  password_too_weak: 400,
  password_breached: 400,
  invalid_invitation: 401,
  registration_closed: 403,
  email_already_exists: 409,
  invitation_expired: 410,
  rate_limited: 429,
} as const;

export const acceptInvitationRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      name: 'accept_invitation',
      repeat: 'never',
      summary: 'Accept an invitation by a mailed link',
      description:
        'Accepts an invitation by the secret of its mailed link, which proves the address. With a password the answer has a session, without one an access token alone.',
      tag: 'Authentication',
      method: 'post',
      path: PATH,
      who: 'anyone',
      tenant: 'optional',
      body: Body,
      input: { takesForm: true, limitBytes: PASSWORD_BODY_MAX_BYTES },
      response: { orPage: true, isSecret: true },
      ok: Type.Union([
        named('JoinedWithSession', closed({ user_id: Type.String(), ...tokenFields })),
        SignedInByMail,
        SecondFactorDue,
      ]),
      refusals: REFUSALS,
      consistency: { waitsFor: ['users', 'sessions', 'invitations'] },
    },
    async (given) => {
      const token = pastedToken(given.body.token);
      const request = { ...given, body: { ...given.body, token } };
      const of = { kind: 'invitation', request, refusals: REFUSALS, action: PATH, token } as const;
      const shown = { ...of, tenantId: tenantOfToken(token) ?? '' };
      const displayName = given.body.display_name;
      return linkAnswer(needs, { ...shown, displayName }, await answered(needs, request));
    },
  );

async function answered(needs: Dependencies, request: Asked) {
  const tenantId = tenantOfToken(request.body.token) ?? '';
  const tenant = await needs.workspaces.tenant(tenantId);
  const read = acceptanceOf(request.body, (tenant ?? { settings: TENANT_DEFAULTS }).settings);
  if ('refused' in read) return read;
  const isNamed = request.tenantId === '' || request.tenantId === tenantId;
  const misses = [[LIMITS.secretFailuresByIp, request.ip]] as const;
  return await countingRefusals(needs.limits, misses, async () =>
    tenant === undefined || !isNamed
      ? INVALID_INVITATION
      : accepted(needs, request, { tenant, ...read.acceptance }),
  );
}

type Accepting = Acceptance & { readonly tenant: TenantFacts };

async function accepted(needs: Dependencies, request: Asked, of: Accepting) {
  const { mailOutbox, passwords, invitations } = needs;
  const { token } = request.body;
  const { id: tenantId, settings } = of.tenant;
  // A hash is expensive, so an invalid token is refused before it.
  const peeked = await mailOutbox.peek('invitation', token, { tenantId, now: needs.clock.now() });
  if ('fault' in peeked) {
    const { fault: linkFault } = peeked;
    const refusal = linkFault === 'expired' ? INVITATION_EXPIRED : INVALID_INVITATION;
    return { ...refusal, linkFault };
  }
  const { userId, invitationId, basis } = peeked;
  if (invitationId === null) return INVALID_INVITATION;
  const invitation = await invitations.find({ tenantId, id: invitationId });
  const objection = objectionTo(invitation, settings);
  if (objection !== undefined) return objection;
  const { displayName } = of;
  const { password_policy: policy } = settings;
  const weakness =
    of.password === null ? undefined : await passwords.objectionTo(of.password, policy, tenantId);
  if (weakness !== undefined) return { refused: weakness } as const;
  const passwordHash = of.password === null ? null : await passwords.hash(of.password, tenantId);
  const command = await needs.command(request, { tenantId, actor: { type: 'user', id: userId } });
  const joining = { invitationId, basis, passwordHash, displayName };
  const joined = await invitations.join(joining, command);
  if ('refused' in joined) return refusalOf(joined);
  await mailOutbox.redeem('invitation', token, command);
  return await signedIn(needs, request, { ...of, user: joined.user, command });
}

/**
 * The person has just chosen the password, so it counts as verified. Without a password, they have proven the mailbox.
 */
async function signedIn(
  { endAttempt }: Dependencies,
  request: Asked,
  of: Accepting & { readonly user: ExistingUser; readonly command: Command },
) {
  const { tenant, user, command } = of;
  const start = { via: 'invitation', user, settings: tenant.settings } as const;
  const at = { request, tenant, readAt: command.now };
  if (of.password === null) {
    const attempt = meet(begin({ ...start, first: 'magic_link' }), true);
    if (attempt.status === 'refused') return INVALID_INVITATION;
    const ended = await endAttempt.inToken(attempt, at, command);
    if (ended.status === 'refused') return INVALID_INVITATION;
    if (ended.status === 'second_factor_due') return { ok: ended.answer };
    return { ok: ended.signedIn, wrote: ended.wrote };
  }
  const attempt = meet(begin({ ...start, first: 'password' }), true);
  if (attempt.status === 'refused') return INVALID_INVITATION;
  const ended = await endAttempt.inSession(attempt, at, command);
  if (ended.status === 'refused') return INVALID_INVITATION;
  if (ended.status === 'second_factor_due') return { ok: ended.answer };
  const { email_verified: _verified, mfa_required: _mfa, ...ok } = ended.signedIn;
  return { ok, wrote: ended.wrote };
}

/** The target of the mail's link if the tenant has no page of its own. */
export const acceptInvitationPageRoute = (needs: Pick<Dependencies, 'workspaces'>): Endpoint =>
  endpoint(
    {
      name: 'accept_invitation_page',
      summary: 'Page of the link to accept an invitation',
      description: "Shows the page that an invitation's link opens. Opening it uses nothing up.",
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
    async (request) => showLinkPage(needs, 'invitation', request, PATH),
  );
