/** An administrator creates an account, with or without a password. */
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import {
  alreadyCreated,
  newId,
  requestHash,
  reusedKey,
  type ServiceDependencies,
} from '@cardea/service';
import Type from 'typebox';
import { badField, closed, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import {
  avatarUrlField,
  displayNameField,
  emailField,
  newPasswordField,
  nullable,
} from '../../../http/input-fields.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { Accounts } from '../../accounts.ts';
import type { Administrators } from '../../administrators/administrators.ts';
import { emailAddress, type ToAscii } from '../../email-address.ts';
import { type Passwords, passwordFault } from '../../passwords/passwords.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';
import { repeatedCreation } from '../repeated-creation.ts';
import { type ExistingUser, exists, isActiveAdmin } from '../user.ts';
import {
  AdminUserShape,
  administratorOf,
  areKnownRoles,
  COMMON,
  Roles,
  shown,
  WRITES,
} from './admin-answers.ts';
import { findUser } from './admin-users.ts';
import { mayGiveRoles } from './administer.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'database' | 'ids' | 'sealer'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'hashOf' | 'open'>;
  readonly accounts: Pick<Accounts, 'create'>;
  readonly administrators: Pick<Administrators, 'settle'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly toAscii: ToAscii;
};

const Body = closed({
  email: emailField,
  password: Type.Optional(newPasswordField),
  display_name: Type.Optional(nullable(displayNameField)),
  avatar_url: Type.Optional(nullable(avatarUrlField)),
  roles: Type.Optional(Roles),
  email_verified: Type.Optional(Type.Boolean()),
});

export const createUserRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'create_user',
      summary: 'Create a user',
      method: 'post',
      path: '/api/v1/admin/users',
      who: WRITES,
      body: Body,
      ok: AdminUserShape,
      status: 201,
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        unknown_role: 400,
        password_too_short: 400,
        password_too_long: 400,
        password_too_weak: 400,
        forbidden: 403,
        email_already_exists: 409,
        already_created: 409,
        idempotency_key_reused: 422,
      },
      idempotent: true,
      waitsFor: ['users'],
      bodyLimitBytes: PASSWORD_BODY_MAX_BYTES,
    },
    async (request) => {
      const { body, tenantId } = request;
      const email = emailAddress(body.email, needs.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const name = displayName(body.display_name ?? null);
      const picture = avatarUrl(body.avatar_url ?? null);
      if (name === undefined) return badField('display_name');
      if (picture === undefined) return badField('avatar_url');
      const roles = body.roles ?? ['member'];
      const { settings = TENANT_DEFAULTS } = (await needs.workspaces.tenant(tenantId)) ?? {};
      if (!areKnownRoles(settings, roles)) return { refused: 'unknown_role' };
      const by = administratorOf(request.principal);
      if (!mayGiveRoles(by, roles)) return { refused: 'forbidden' };
      const { password, email_verified: emailVerified = false } = body;
      const fault =
        password === undefined ? undefined : passwordFault(password, settings.password_policy);
      if (fault !== undefined) return { refused: fault };

      const userId = newId(needs, request, 'user');
      const repeat = await repeatedCreation(needs, request, { tenantId, userId });
      if (repeat !== undefined) return await asItStands(needs, request, { userId, repeat });
      const passwordHash = password === undefined ? null : await needs.passwords.hash(password);
      const command = await needs.command(request);
      const created = await needs.accounts.create(
        {
          id: userId,
          email,
          emailHash: await needs.userDirectory.hashOf(tenantId, email),
          emailVerified,
          displayName: name,
          avatarUrl: picture,
          roles,
          passwordHash,
          via: 'admin',
          vouched: !by.isKey,
          requestHash: await requestHash(needs, request),
        },
        command,
      );
      if (created.outcome === 'deleted') return alreadyCreated(userId);
      if (created.outcome === 'taken') return { refused: 'email_already_exists' };
      return { ok: await joined(needs, created.user, command), wrote: created.position };
    },
  );

async function joined(
  needs: Pick<Dependencies, 'administrators' | 'userDirectory'>,
  user: ExistingUser,
  command: Command,
) {
  const of = { tenantId: command.metadata.tenantId, userId: user.id };
  if (isActiveAdmin(user)) await needs.administrators.settle(of, command);
  return await shown(needs, user);
}

/** The first answer contained no secret, so a repeat of the same request gets the account as it is now. */
async function asItStands(
  needs: Pick<Dependencies, 'database' | 'sealer' | 'userDirectory'>,
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
  const row = await findUser(needs.database, { tenantId, id: userId });
  return { ok: await shown(needs, user, row?.last_login_at) };
}
