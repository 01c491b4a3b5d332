/** An administrator creates an account, with or without a password. */

import { documented } from '@cardea/contracts';
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { languageOf } from '@cardea/pages';
import {
  alreadyCreated,
  newId,
  requestHash,
  reusedKey,
  type ServiceDependencies,
} from '@cardea/service';
import Type, { type Static } from 'typebox';
import { closed, PASSWORD_BODY_MAX_BYTES, tooOften } from '../../../http/answers.ts';
import {
  avatarUrlField,
  displayNameField,
  emailField,
  newPasswordField,
  nullable,
} from '../../../http/input-fields.ts';
import { displayName } from '../../../http/profile-fields.ts';
import { mailLimit } from '../../../mail/mail.module.ts';
import { type Administrator, administratorOf } from '../../../ranks/ranks.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { Accounts, NewAccount } from '../../accounts.ts';
import type { Administrators } from '../../administrators/administrators.ts';
import { emailAddress, type ToAscii } from '../../email-address.ts';
import type { InvitePerson } from '../../invitations/inviting.ts';
import type { Passwords } from '../../passwords/passwords.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { isActiveAdmin } from '../ranks.ts';
import { repeatedCreation } from '../repeated-creation.ts';
import { type ExistingUser, exists } from '../user.ts';
import { AdminUserInFull, Roles, shownInFull, WRITES } from './admin-answers.ts';
import { findUser } from './admin-users.ts';
import { objectionTo } from './new-user.ts';

type Dependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'database' | 'ids' | 'limits' | 'sealer' | 'streams'
> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf' | 'metadataOf' | 'open'>;
  readonly accounts: Pick<Accounts, 'create' | 'isPromised'>;
  readonly administrators: Pick<Administrators, 'settle'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly passwords: Pick<Passwords, 'hash' | 'objectionTo'>;
  readonly invitePerson: InvitePerson;
  readonly toAscii: ToAscii;
};

const Body = documented(
  closed({
    email: emailField,
    password: Type.Optional(newPasswordField),
    display_name: Type.Optional(nullable(displayNameField)),
    avatar_url: Type.Optional(nullable(avatarUrlField)),
    roles: Type.Optional(Roles),
    email_verified: Type.Optional(Type.Boolean()),
    /** The owner chooses the password through a mailed link. Nobody can sign in before that. */
    send_invitation: Type.Optional(Type.Boolean({ examples: [false] })),
  }),
  {
    not: {
      required: ['password', 'send_invitation'],
      properties: { password: {}, send_invitation: { const: true } },
    },
  },
);

type Asked = Request<object, object, Static<typeof Body>>;

export const createUserRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      tag: 'Administration',
      name: 'create_user',
      machine: 'users:write',
      access: { class: 'settings', stepUp: 'users' },
      summary: 'Create a user',
      description:
        "Makes an account. With `send_invitation` its owner chooses the password by a mailed link. A user made by an administrator's token is vouched for, one made by an API key is not. Nobody gives a role above their own; API keys give only `member`.",
      method: 'post',
      path: '/api/v1/admin/users',
      who: WRITES,
      body: Body,
      ok: AdminUserInFull,
      response: { status: 201 },
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        unknown_role: 400,
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        password_breached: 400,
        forbidden: 403,
        email_already_exists: 409,
        already_created: 409,
        idempotency_key_reused: 422,
        rate_limited: 429,
      },
      repeat: 'by_key',
      consistency: { waitsFor: ['users', 'invitations'] },
      input: { limitBytes: PASSWORD_BODY_MAX_BYTES },
    },
    {
      readAhead: async ({ body, tenantId, principal }) => {
        const by = administratorOf(principal);
        const email = emailAddress(body.email, needs.toAscii);
        const [tenant, address] = await Promise.all([
          needs.workspaces.tenant(tenantId),
          email === undefined ? undefined : addressOf(needs, { tenantId, email, by }),
        ]);
        return { by, tenant, address };
      },
      handle: async (request, { by, tenant, address }) => {
        const { body, tenantId } = request;
        if (address === undefined) return { refused: 'invalid_email' };
        const { email, emailHash, isPromised } = address;
        const { settings } = tenant ?? { settings: TENANT_DEFAULTS };
        const objection = objectionTo(body, { by, settings });
        if (objection !== undefined) return objection;

        const userId = newId(needs, request, 'user');
        const repeat = await repeatedCreation(needs, request, { tenantId, userId });
        if (repeat !== undefined) return await asItStands(needs, request, { userId, repeat });
        const { password } = body;
        const { password_policy: policy } = settings;
        const weakness =
          password === undefined
            ? undefined
            : await needs.passwords.objectionTo(password, policy, tenantId);
        if (weakness !== undefined) return { refused: weakness };
        if (isPromised) return { refused: 'forbidden' };
        const limited = body.send_invitation
          ? await mailLimit(needs, {
              tenantId,
              emailHash,
              ip: request.ip,
              by: 'administrator',
            })
          : undefined;
        if (limited !== undefined) return tooOften(limited);
        return await created(needs, request, { by, userId, email, emailHash });
      },
    },
  );

/** The address, and whether it has an open invitation that the administrator may not replace. */
async function addressOf(
  { accounts, clock, userDirectory }: Dependencies,
  {
    tenantId,
    email,
    by,
  }: { readonly tenantId: string; readonly email: string; readonly by: Administrator },
) {
  const emailHash = await userDirectory.hashOf(tenantId, email);
  const promised = { tenantId, emailHash, by, now: clock.now() };
  return { email, emailHash, isPromised: await accounts.isPromised(promised) };
}

async function created(
  needs: Dependencies,
  request: Asked,
  of: Pick<NewAccount, 'email' | 'emailHash'> & {
    readonly by: Administrator;
    readonly userId: string;
  },
) {
  const { userId, email, emailHash } = of;
  const { password, send_invitation: isInvited = false, ...body } = request.body;
  const passwordHash =
    password === undefined ? null : await needs.passwords.hash(password, request.tenantId);
  const command = await needs.command(request);
  const account: NewAccount = {
    id: userId,
    email,
    emailHash,
    emailVerified: body.email_verified ?? false,
    displayName: displayName(body.display_name ?? null) ?? null,
    avatarUrl: body.avatar_url ?? null,
    roles: body.roles ?? ['member'],
    passwordHash,
    via: 'admin',
    vouched: !of.by.isKey,
    requestHash: await requestHash(needs, request),
    isInvited,
  };
  const made = await needs.accounts.create(account, command);
  if (made.outcome === 'deleted') return alreadyCreated(userId);
  if (made.outcome === 'taken') return { refused: 'email_already_exists' } as const;
  const invited = isInvited
    ? await needs.invitePerson(
        {
          id: newId(needs, request, 'invitation'),
          userId,
          email,
          emailHash,
          roles: account.roles,
          invitedBy: null,
          requestHash: null,
          language: languageOf(request.headers),
          by: of.by,
        },
        command,
      )
    : undefined;
  const wrote = invited !== undefined && 'position' in invited ? invited.position : made.position;
  return { ok: await joined(needs, made.user, command), wrote };
}

async function joined(
  needs: Pick<Dependencies, 'administrators' | 'userDirectory'>,
  user: ExistingUser,
  command: Command,
) {
  const of = { tenantId: command.metadata.tenantId, userId: user.id };
  if (isActiveAdmin(user)) await needs.administrators.settle(of, command);
  return await shownInFull(needs, user);
}

/** The first response contained no secret, so a repeat of the same request returns the account's current state. */
async function asItStands(
  needs: Pick<Dependencies, 'clock' | 'database' | 'sealer' | 'userDirectory'>,
  request: Request<unknown, unknown, unknown>,
  of: {
    readonly userId: string;
    readonly repeat: NonNullable<Awaited<ReturnType<typeof repeatedCreation>>>;
  },
) {
  const { tenantId } = request;
  const { userId, repeat } = of;
  const user = await needs.userDirectory.byId(tenantId, userId);
  if (!exists(user)) return repeat;
  const reused = reusedKey(await requestHash(needs, request), user.requestHash);
  if (reused !== undefined) return reused;
  const at = { tenantId, id: userId, now: needs.clock.now() };
  return { ok: await shownInFull(needs, user, await findUser(needs.database, at)) };
}
