/** An administrator makes an account, with or without a password. */
import type { Command } from '@cardea/event-store';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import Type from 'typebox';
import { alreadyCreated, repeated } from '../../../authentication/registrations/registering.ts';
import { badField, closed, PASSWORD_BODY_MAX_BYTES } from '../../../http/answers.ts';
import { type Identity, newId, requestHash } from '../../../identity.ts';
import { TENANT_DEFAULTS } from '../../../workspaces/tenants/tenant.ts';
import { emailAddress } from '../../email-address.ts';
import { passwordFault } from '../../passwords/passwords.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';
import { type ExistingUser, exists, isActiveAdmin } from '../user.ts';
import {
  AdminUserShape,
  administratorOf,
  areKnownRoles,
  COMMON,
  NullableText,
  Roles,
  shown,
  WRITES,
} from './admin-answers.ts';
import { findUser } from './admin-users.ts';
import { mayGiveRoles } from './administer.ts';

const Body = closed({
  email: Type.String(),
  password: Type.Optional(Type.String()),
  display_name: Type.Optional(NullableText),
  avatar_url: Type.Optional(NullableText),
  roles: Type.Optional(Roles),
  email_verified: Type.Optional(Type.Boolean()),
});

export const createUserRoute = (identity: Identity): Endpoint =>
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
      const email = emailAddress(body.email, identity.toAscii);
      if (email === undefined) return { refused: 'invalid_email' };
      const name = displayName(body.display_name ?? null);
      const picture = avatarUrl(body.avatar_url ?? null);
      if (name === undefined) return badField('display_name');
      if (picture === undefined) return badField('avatar_url');
      const roles = body.roles ?? ['member'];
      const { settings = TENANT_DEFAULTS } = (await identity.workspaces.tenant(tenantId)) ?? {};
      if (!areKnownRoles(settings, roles)) return { refused: 'unknown_role' };
      const by = administratorOf(request.principal);
      if (!mayGiveRoles(by, roles)) return { refused: 'forbidden' };
      const { password, email_verified: emailVerified = false } = body;
      const fault =
        password === undefined ? undefined : passwordFault(password, settings.password_policy);
      if (fault !== undefined) return { refused: fault };

      const userId = newId(identity, request, 'user');
      const repeat = await repeated(identity, request, { tenantId, userId });
      if (repeat !== undefined) return await asItStands(identity, request, { userId, repeat });
      const passwordHash = password === undefined ? null : await identity.passwords.hash(password);
      const command = await identity.command(request);
      const created = await identity.accounts.create(
        {
          id: userId,
          email,
          emailHash: await identity.people.hashOf(tenantId, email),
          emailVerified,
          displayName: name,
          avatarUrl: picture,
          roles,
          passwordHash,
          via: 'admin',
          vouched: !by.isKey,
          requestHash: await requestHash(identity, request, { tenantId }),
        },
        command,
      );
      if (created.outcome === 'deleted') return alreadyCreated(userId);
      if (created.outcome === 'taken') return { refused: 'email_already_exists' };
      return { ok: await joined(identity, created.user, command), wrote: created.position };
    },
  );

async function joined(identity: Identity, user: ExistingUser, command: Command) {
  const of = { tenantId: command.metadata.tenantId, userId: user.id };
  if (isActiveAdmin(user)) await identity.administrators.settle(of, command);
  return await shown(identity, user);
}

/** The first answer held no secret, so a repeat of the same request gets the account as it is now. */
async function asItStands(
  identity: Identity,
  request: Request<unknown, unknown, unknown>,
  of: {
    readonly userId: string;
    readonly repeat: NonNullable<Awaited<ReturnType<typeof repeated>>>;
  },
) {
  const { tenantId } = request;
  const { userId, repeat } = of;
  const user = await identity.people.byId(tenantId, userId);
  if (!exists(user)) return repeat;
  if (user.requestHash !== (await requestHash(identity, request, { tenantId }))) {
    return { refused: 'idempotency_key_reused' } as const;
  }
  const row = await findUser(identity.database, { tenantId, id: userId });
  return { ok: await shown(identity, user, row?.last_login_at) };
}
