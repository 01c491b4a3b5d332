/** Requests another address for one's own account, shows which proofs are missing, and cancels the request. */
import { NullableTime, Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  type EmailChanges,
  emailAddress,
  exists,
  pendingEmailChange,
  requestEmailChange,
  type ToAscii,
  type UserDirectory,
  users,
} from '../../accounts/accounts.module.ts';
import { badField, closed, tooOften } from '../../http/answers.ts';
import { emailField, nullable } from '../../http/input-fields.ts';
import { LIMITS } from '../../http/limits.ts';
import { mailLimit } from '../../mail/mail.module.ts';
import { ownSession } from '../../sessions/sessions.module.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../workspaces/workspaces.module.ts';

export type RequestDependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'limits' | 'sealer' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf' | 'hashOf' | 'seal'>;
  readonly emailChanges: Pick<EmailChanges, 'stop'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly toAscii: ToAscii;
};

export const requestRoutes = (deps: RequestDependencies) => ({
  requestEmailChange: requestEmailChangeRoute(deps),
  getEmailChange: showEmailChangeRoute(deps),
  stopEmailChange: stopMyEmailChangeRoute(deps),
});

const requestEmailChangeRoute = (deps: RequestDependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      path: '/api/v1/user/email',
      who: ['user'],
      tenant: 'optional',
      name: 'request_email_change',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'never',
      summary: 'Ask for another e-mail address',
      description:
        'Mails a link and a code to the new address and, if it is verified, to the present one; the address changes once both are confirmed, within 24 hours. A newer request takes the place of the one before. The answer is the same for every address. With `present_out_of_reach` the present address need not confirm: that takes a second factor which the account has had for 7 days, the change is in force 7 days later, and the present address can stop it until then.',
      method: 'post',
      body: closed({
        email: emailField,
        present_out_of_reach: Type.Optional(Type.Boolean()),
      }),
      ok: closed({ status: Type.Literal('confirmation sent'), expires_at: Time }),
      response: { status: 202 },
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        second_factor_required: 403,
        not_found: 404,
        rate_limited: 429,
      },
    },
    async (request) => {
      const { principal, body, ip } = request;
      const { id: userId, tenantId } = principal;
      const email = emailAddress(body.email, deps.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const owner = { tenantId, userId };
      const [hash, sealed, user, tenant] = await Promise.all([
        deps.userDirectory.hashOf(tenantId, email),
        deps.userDirectory.seal(owner, 'email', email),
        deps.userDirectory.byId(tenantId, userId),
        deps.workspaces.tenant(tenantId),
      ]);
      if (sealed === 'erased') return { refused: 'not_found' };
      const command = await deps.command(request);
      const { settings } = tenant ?? { settings: TENANT_DEFAULTS };
      const change = {
        changeId: uuidFrom(command.id, 'email change'),
        email: sealed,
        hash,
        isOutOfReach: body.present_out_of_reach ?? false,
        asksForFactors: settings.mfa_policy !== 'disabled',
        session: await ownSession(deps.streams, principal, command.now),
        now: command.now,
      };
      // A request that is refused anyway is not charged to the limits.
      const first = requestEmailChange(change, user);
      if (!first.accepted) return refusalOf(first.reason);
      const limited = await tooMany(deps, { tenantId, userId, emailHash: hash, ip });
      if (limited !== undefined) return limited;
      const decided = await deps.streams.decideOn(users, userId, command, (state) =>
        requestEmailChange(change, state),
      );
      if (!decided.accepted) return refusalOf(decided.reason);
      const pending = exists(decided.state) ? decided.state.emailChange : undefined;
      if (!pending) return { refused: 'not_found' };
      const ok = { status: 'confirmation sent' as const, expires_at: pending.expiresAt };
      return { ok, wrote: decided.position };
    },
  );

const refusalOf = (reason: 'not_found' | 'unchanged' | 'second_factor_required') =>
  reason === 'unchanged' ? badField('email', 'other than the present one') : { refused: reason };

async function tooMany(
  deps: RequestDependencies,
  of: {
    readonly tenantId: string;
    readonly userId: string;
    readonly emailHash: string;
    readonly ip: string;
  },
) {
  const { tenantId, userId, emailHash, ip } = of;
  const own = await deps.limits.take([LIMITS.emailChangesByUser, `${tenantId}:${userId}`]);
  if (!own.allowed) return tooOften(own);
  const limited = await mailLimit(deps, { tenantId, emailHash, ip, by: 'anyone' });
  return limited === undefined ? undefined : tooOften(limited);
}

const PendingShape = closed({
  email: Type.String(),
  missing: Type.Array(Type.Enum(['new', 'present'])),
  requested_at: Time,
  expires_at: Time,
  effective_at: NullableTime,
});

const showEmailChangeRoute = (deps: Pick<RequestDependencies, 'clock' | 'userDirectory'>) =>
  endpoint(
    {
      tag: 'Self-service',
      path: '/api/v1/user/email',
      who: ['user'],
      tenant: 'optional',
      name: 'get_email_change',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'My e-mail address',
      description:
        "Shows the caller's address, and another one that was asked for: which side is still to be confirmed, until when, and when it is in force.",
      method: 'get',
      ok: closed({
        email: Type.String(),
        email_verified: Type.Boolean(),
        change: nullable(PendingShape),
      }),
      refusals: { not_found: 404 },
    },
    async ({ principal: { tenantId, id } }) => {
      const user = await deps.userDirectory.byId(tenantId, id);
      if (!exists(user)) return { refused: 'not_found' };
      const pending = pendingEmailChange(user, deps.clock.now());
      const [present, next] = await Promise.all([
        deps.userDirectory.emailOf(user),
        pending && deps.userDirectory.emailOf({ id, email: pending.email }),
      ]);
      const change = pending && {
        email: next ?? '',
        missing: [...pending.missing],
        requested_at: pending.requestedAt,
        expires_at: pending.expiresAt,
        effective_at: pending.effectiveAt,
      };
      const { emailVerified: email_verified } = user;
      return { ok: { email: present ?? '', email_verified, change: change ?? null } };
    },
  );

const stopMyEmailChangeRoute = (deps: Pick<RequestDependencies, 'command' | 'emailChanges'>) =>
  endpoint(
    {
      tag: 'Self-service',
      path: '/api/v1/user/email',
      who: ['user'],
      tenant: 'optional',
      name: 'stop_my_email_change',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: 'Keep my e-mail address',
      description: 'Stops the change of the address that waits, if one does.',
      method: 'delete',
      ok: closed({ status: Type.Literal('email change stopped') }),
      refusals: {},
    },
    async (request) => {
      const { id: userId, tenantId } = request.principal;
      const command = await deps.command(request);
      const wrote = await deps.emailChanges.stop({ tenantId, userId, by: 'user' }, command);
      return { ok: { status: 'email change stopped' as const }, wrote };
    },
  );
