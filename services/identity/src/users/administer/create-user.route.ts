/** An administrator makes an account, with or without a password. */
import { type Endpoint, endpoint } from '@cardea/http';
import Type from 'typebox';
import { badField, closed, PASSWORD_BODY_MAX_BYTES } from '../../answers.ts';
import { emailAddress } from '../../email-address.ts';
import { type Identity, newId, requestHash } from '../../identity.ts';
import { passwordFault } from '../../passwords.ts';
import { repeated } from '../../registering.ts';
import { TENANT_DEFAULTS } from '../../tenants/tenant.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';
import { exists } from '../user.ts';
import {
  AdminUserShape,
  COMMON,
  NullableText,
  Roles,
  rolesFault,
  shown,
  WRITES,
} from './admin-answers.ts';
import { findUser } from './admin-users.ts';

export const createUserRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'create_user',
      summary: 'Create a user',
      method: 'post',
      path: '/api/v1/admin/users',
      who: WRITES,
      body: closed({
        email: Type.String(),
        password: Type.Optional(Type.String()),
        display_name: Type.Optional(NullableText),
        avatar_url: Type.Optional(NullableText),
        roles: Type.Optional(Roles),
        email_verified: Type.Optional(Type.Boolean()),
      }),
      ok: AdminUserShape,
      status: 201,
      refusals: {
        invalid_email: 400,
        invalid_request: 400,
        unknown_role: 400,
        password_too_short: 400,
        password_too_long: 400,
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
      const roleFault = await rolesFault(identity, request, roles);
      if (roleFault !== undefined) return { refused: roleFault };
      const tenant = await identity.workspaces.tenant(tenantId);
      const policy = (tenant?.settings ?? TENANT_DEFAULTS).password_policy;
      const fault = body.password === undefined ? undefined : passwordFault(body.password, policy);
      if (fault !== undefined) return { refused: fault };

      const userId = newId(identity, request, 'user');
      const repeat = await repeated(identity, request, { tenantId, userId });
      if (repeat !== undefined) return await asItStands(identity, { tenantId, userId }, repeat);
      const passwordHash =
        body.password === undefined ? null : await identity.passwords.hash(body.password);
      const command = await identity.command(request);
      const created = await identity.accounts.create(
        {
          id: userId,
          email,
          emailHash: await identity.people.hashOf(tenantId, email),
          emailVerified: body.email_verified ?? false,
          displayName: name,
          avatarUrl: picture,
          roles,
          passwordHash,
          via: 'admin',
          requestHash: await requestHash(identity, request, { tenantId }),
        },
        command,
      );
      if (created.outcome === 'taken') return { refused: 'email_already_exists' };
      return { ok: await shown(identity, created.user), wrote: created.position };
    },
  );

/** The first answer held no secret, so a repeat of the same request gets the account as it is now. */
async function asItStands(
  identity: Identity,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
  repeat: NonNullable<Awaited<ReturnType<typeof repeated>>>,
) {
  const user = await identity.people.byId(tenantId, userId);
  if (repeat.refused !== 'already_created' || !exists(user)) return repeat;
  const row = await findUser(identity.database, { tenantId, id: userId });
  return { ok: await shown(identity, user, row?.last_login_at) };
}
