/** Accounts as administrators see and change them. */

import type { Principal } from '@cardea/auth';
import { PAGE_SIZE_DEFAULT, pageAnswer, pageQuery } from '@cardea/contracts';
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import Type from 'typebox';
import { closed, PASSWORD_BODY_MAX_BYTES, profileFields } from '../../answers.ts';
import { emailAddress } from '../../email-address.ts';
import { type Identity, latest, newId, requestHash } from '../../identity.ts';
import { passwordFault } from '../../passwords.ts';
import { repeated } from '../../registering.ts';
import { aliveSessions } from '../../sessions/alive-sessions.ts';
import { TENANT_DEFAULTS } from '../../tenants/tenant.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';
import { updateProfile } from '../update-profile.ts';
import { exists, ROLES, rankOf, type User, users } from '../user.ts';
import { type AdminUser, countOtherAdmins, findUser, listUsers } from './admin-users.ts';
import { administer, deleteUser } from './administer.ts';

const Status = Type.Union([Type.Literal('active'), Type.Literal('disabled')]);
const Roles = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
});
const NullableText = Type.Union([Type.String(), Type.Null()]);
const AdminUserShape = closed({
  ...profileFields,
  status: Type.String(),
  mfa_enabled: Type.Boolean(),
  last_login_at: NullableText,
  identities: Type.Array(Type.String()),
  updated_at: Type.String(),
});
const Id = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
const COMMON = { tag: 'Administration', tenant: 'required', area: 'admin' } as const;
const READS = ['admin', 'api_key:users:read'] as const;
const WRITES = ['admin', 'api_key:users:write'] as const;

export const administerRoutes = (identity: Identity): readonly Endpoint[] => [
  createUserRoute(identity),
  listUsersRoute(identity),
  getUserRoute(identity),
  updateUserRoute(identity),
  deleteUserRoute(identity),
];

/** A key has no roles; whoever made it was an administrator. */
const rankOfCaller = (principal: Principal | undefined): number =>
  rankOf(principal?.kind === 'user' ? principal.roles : ['admin']);

const rolesFault = async (
  identity: Identity,
  { tenantId, principal }: Request<unknown, unknown, unknown>,
  roles: readonly string[],
) => {
  const tenant = await identity.workspaces.tenant(tenantId);
  const known = new Set<string>([...ROLES, ...(tenant?.settings.roles ?? [])]);
  if (roles.some((role) => !known.has(role))) return 'unknown_role';
  return rankOf(roles) > rankOfCaller(principal) ? 'forbidden' : undefined;
};

const createUserRoute = (identity: Identity): Endpoint =>
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
      if (name === undefined || picture === undefined) return { refused: 'invalid_request' };
      const roles = body.roles ?? ['member'];
      const roleFault = await rolesFault(identity, request, roles);
      if (roleFault !== undefined) return { refused: roleFault };
      const tenant = await identity.workspaces.tenant(tenantId);
      const policy = (tenant?.settings ?? TENANT_DEFAULTS).password_policy;
      const fault = body.password === undefined ? undefined : passwordFault(body.password, policy);
      if (fault !== undefined) return { refused: fault };

      const userId = newId(identity, request, 'user');
      const repeat = await repeated(identity, request, { tenantId, userId });
      if (repeat !== undefined) return repeat;
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

const listUsersRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'list_users',
      summary: 'List users',
      method: 'get',
      path: '/api/v1/admin/users',
      who: READS,
      query: Type.Object({
        ...pageQuery,
        q: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
        email: Type.Optional(Type.String({ maxLength: 254 })),
        role: Type.Optional(Type.String({ maxLength: 64 })),
        status: Type.Optional(Status),
      }),
      ok: closed({ users: Type.Array(AdminUserShape), ...pageAnswer }),
      refusals: {},
      reads: ['users'],
    },
    async ({ tenantId, query }) => {
      const { offset = 0, limit = PAGE_SIZE_DEFAULT, ...filter } = query;
      const { rows, total } = await listUsers(identity.database, {
        tenantId,
        offset,
        limit,
        ...filter,
      });
      return { ok: { users: [...rows], total, offset, limit } };
    },
  );

const getUserRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'get_user',
      summary: 'One user',
      method: 'get',
      path: '/api/v1/admin/users/{id}',
      who: READS,
      params: Id,
      ok: AdminUserShape,
      refusals: { not_found: 404 },
      reads: ['users'],
    },
    async ({ tenantId, params }) => {
      const user = await findUser(identity.database, { tenantId, id: params.id });
      return user === undefined ? { refused: 'not_found' } : { ok: user };
    },
  );

const updateUserRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'update_user',
      summary: 'Change a user',
      method: 'patch',
      path: '/api/v1/admin/users/{id}',
      who: WRITES,
      params: Id,
      body: Type.Object(
        {
          display_name: Type.Optional(NullableText),
          avatar_url: Type.Optional(NullableText),
          roles: Type.Optional(Roles),
          status: Type.Optional(Status),
        },
        { additionalProperties: false, minProperties: 1 },
      ),
      ok: AdminUserShape,
      refusals: {
        invalid_request: 400,
        unknown_role: 400,
        forbidden: 403,
        not_found: 404,
        last_admin: 409,
      },
      waitsFor: ['users', 'sessions', 'revocations'],
    },
    async (request) => {
      const { body, params, tenantId } = request;
      const name = body.display_name === undefined ? null : displayName(body.display_name);
      const picture = body.avatar_url === undefined ? null : avatarUrl(body.avatar_url);
      if (name === undefined || picture === undefined) return { refused: 'invalid_request' };
      const roleFault = body.roles && (await rolesFault(identity, request, body.roles));
      if (roleFault === 'unknown_role') return { refused: roleFault };

      const command = await identity.command(request);
      const of = { tenantId, userId: params.id };
      const others = await countOtherAdmins(identity.database, of);
      const alive = await aliveSessions(identity.database, { ...of, now: command.now });
      const change = {
        rank: rankOfCaller(request.principal),
        isLastAdmin: others === 0,
        now: command.now,
        ...(body.roles === undefined ? {} : { roles: body.roles }),
        ...(body.status === undefined ? {} : { status: body.status }),
      };
      const decided = await identity.streams.decideOn(users, params.id, command, (user) =>
        administer(change, user),
      );
      if (!decided.accepted) return { refused: decided.reason };
      const renamed = await rename(identity, request, { name, picture, command });
      await mark(identity, params.id, { status: body.status, sids: alive.map(({ id }) => id) });
      const state = renamed?.state ?? decided.state;
      if (!exists(state)) return { refused: 'not_found' };
      const wrote = latest(decided.position, renamed?.position);
      return { ok: await shown(identity, state), wrote };
    },
  );

type Renaming = {
  readonly name: string | null;
  readonly picture: string | null;
  readonly command: Awaited<ReturnType<Identity['command']>>;
};

async function rename(
  { people, streams }: Identity,
  request: Request<
    { id: string },
    unknown,
    { readonly display_name?: string | null; readonly avatar_url?: string | null }
  >,
  { name, picture, command }: Renaming,
) {
  const { body, params, tenantId } = request;
  if (body.display_name === undefined && body.avatar_url === undefined) return undefined;
  const seal = async (field: 'display_name' | 'avatar_url', value: string | null) =>
    value === null ? null : people.seal({ tenantId, userId: params.id }, field, value);
  const change = {
    ...(body.display_name === undefined ? {} : { displayName: await seal('display_name', name) }),
    ...(body.avatar_url === undefined ? {} : { avatarUrl: await seal('avatar_url', picture) }),
    now: command.now,
  };
  const own = { ...command, id: uuidFrom(command.id, 'profile') };
  return await streams.decideOn(users, params.id, own, (user) => updateProfile(change, user));
}

/** The tokens of a closed account are refused at once, before this answers. */
async function mark(
  { revocations }: Identity,
  userId: string,
  of: { readonly status: 'active' | 'disabled' | undefined; readonly sids: readonly string[] },
): Promise<void> {
  if (of.status === 'active') await revocations.unmark('user', [userId]);
  if (of.status !== 'disabled') return;
  await revocations.mark('user', [userId]);
  await revocations.mark('sid', of.sids);
}

const deleteUserRoute = (identity: Identity): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'delete_user',
      summary: 'Delete a user',
      method: 'delete',
      path: '/api/v1/admin/users/{id}',
      who: WRITES,
      params: Id,
      ok: closed({ status: Type.Literal('user deleted') }),
      refusals: { forbidden: 403, not_found: 404, last_admin: 409 },
      waitsFor: ['users', 'sessions', 'revocations'],
    },
    async (request) => {
      const { tenantId, params } = request;
      const of = { tenantId, userId: params.id };
      const command = await identity.command(request);
      const others = await countOtherAdmins(identity.database, of);
      const alive = await aliveSessions(identity.database, { ...of, now: command.now });
      const decided = await identity.streams.decideOn(users, params.id, command, (user) =>
        deleteUser(
          { rank: rankOfCaller(request.principal), isLastAdmin: others === 0, now: command.now },
          user,
        ),
      );
      if (!decided.accepted) return { refused: decided.reason };
      await mark(identity, params.id, { status: 'disabled', sids: alive.map(({ id }) => id) });
      const emailHash = decided.state.status === 'deleted' ? decided.state.emailHash : '';
      // The policy does the same after a crash; here it frees the address before the answer.
      await identity.accounts.releaseAddress({ ...of, emailHash }, command);
      return { ok: { status: 'user deleted' as const }, wrote: decided.position };
    },
  );

/** Out of the stream: right whether or not the table has caught up. */
async function shown(identity: Identity, user: Extract<User, { status: 'active' | 'disabled' }>) {
  const opened = await identity.people.open(user);
  const shape: AdminUser = {
    id: user.id,
    email: opened.email ?? '',
    email_verified: user.emailVerified,
    display_name: opened.displayName,
    avatar_url: opened.avatarUrl,
    roles: [...user.roles],
    created_at: user.createdAt,
    status: user.status,
    mfa_enabled: false,
    last_login_at: null,
    identities: [],
    updated_at: user.updatedAt,
  };
  return shape;
}
