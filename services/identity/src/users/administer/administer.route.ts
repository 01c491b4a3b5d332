/** An administrator changes or deletes an account. */
import { type Endpoint, endpoint, type Request } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import Type from 'typebox';
import { badField, closed } from '../../answers.ts';
import { type Identity, latest } from '../../identity.ts';
import { aliveSessions } from '../../sessions/alive-sessions.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';
import { updateProfile } from '../update-profile.ts';
import { exists, users } from '../user.ts';
import {
  AdminUserShape,
  COMMON,
  Id,
  mark,
  NullableText,
  Roles,
  rankOfCaller,
  rolesFault,
  Status,
  shown,
  WRITES,
} from './admin-answers.ts';
import { countOtherAdmins, findUser } from './admin-users.ts';
import { administer, deleteUser } from './administer.ts';

export const updateUserRoute = (identity: Identity): Endpoint =>
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
      if (name === undefined) return badField('display_name');
      if (picture === undefined) return badField('avatar_url');
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
      const row = await findUser(identity.database, { tenantId, id: params.id });
      return { ok: await shown(identity, state, row?.last_login_at), wrote };
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

export const deleteUserRoute = (identity: Identity): Endpoint =>
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
