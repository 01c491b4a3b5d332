/** An administrator changes or deletes an account. */
import type { Sealed } from '@cardea/crypto';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField, closed } from '../../../http/answers.ts';
import { avatarUrlField, displayNameField, nullable } from '../../../http/input-fields.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../../workspaces/workspaces.module.ts';
import type { Accounts } from '../../accounts.ts';
import type { Administrators } from '../../administrators/administrators.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { administratorOf, areKnownRoles } from '../administrator.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';
import { exists } from '../user.ts';
import { AdminUserShape, COMMON, Id, Roles, Status, shown, WRITES } from './admin-answers.ts';
import { findUser } from './admin-users.ts';
import { administer, deleteUser } from './administer.ts';
import { decideOnUser } from './decide-on-user.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'database' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open' | 'seal'>;
  readonly accounts: Pick<Accounts, 'releaseAddress'>;
  readonly administrators: Pick<Administrators, 'leave' | 'settle'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
};

export const updateUserRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'update_user',
      retry: 'safe',
      summary: 'Change a user',
      method: 'patch',
      path: '/api/v1/admin/users/{id}',
      who: WRITES,
      applicationScope: 'account',
      params: Id,
      body: Type.Object(
        {
          display_name: Type.Optional(nullable(displayNameField)),
          avatar_url: Type.Optional(nullable(avatarUrlField)),
          roles: Type.Optional(Roles),
          status: Type.Optional(Status),
          vouched: Type.Optional(Type.Boolean()),
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
      const { settings = TENANT_DEFAULTS } = (await needs.workspaces.tenant(tenantId)) ?? {};
      if (!areKnownRoles(settings, body.roles ?? [])) return { refused: 'unknown_role' };
      const of = { tenantId, userId: params.id };
      // Before anything is encrypted for a user who does not exist.
      if (!exists(await needs.userDirectory.byId(tenantId, params.id)))
        return { refused: 'not_found' };
      const command = await needs.command(request);
      const profile = await sealedProfile(needs, of, {
        ...(body.display_name === undefined ? {} : { displayName: name }),
        ...(body.avatar_url === undefined ? {} : { avatarUrl: picture }),
      });
      if (profile === 'erased') return { refused: 'not_found' };
      const change = {
        by: administratorOf(request.principal),
        now: command.now,
        ...profile,
        ...(body.roles === undefined ? {} : { roles: body.roles }),
        ...(body.status === undefined ? {} : { status: body.status }),
        ...(body.vouched === undefined ? {} : { vouched: body.vouched }),
      };
      const decided = await decideOnUser(needs, of, command, (on, user) =>
        administer({ ...change, ...on }, user),
      );
      if (!decided.done) return { refused: decided.reason };
      if (!exists(decided.state)) return { refused: 'not_found' };
      const at = { tenantId, id: params.id, now: command.now };
      const ok = await shown(needs, decided.state, await findUser(needs.database, at));
      return { ok, wrote: decided.position };
    },
  );

type Profile<Field> = { readonly displayName?: Field | null; readonly avatarUrl?: Field | null };

/** Only the fields that the request names. */
async function sealedProfile(
  { userDirectory }: Pick<Dependencies, 'userDirectory'>,
  of: { readonly tenantId: string; readonly userId: string },
  { displayName, avatarUrl }: Profile<string>,
): Promise<Profile<Sealed> | 'erased'> {
  const seal = async (field: 'display_name' | 'avatar_url', value: string | null | undefined) =>
    value == null ? value : userDirectory.seal(of, field, value);
  const name = await seal('display_name', displayName);
  const picture = await seal('avatar_url', avatarUrl);
  if (name === 'erased' || picture === 'erased') return 'erased';
  return {
    ...(name === undefined ? {} : { displayName: name }),
    ...(picture === undefined ? {} : { avatarUrl: picture }),
  };
}

export const deleteUserRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'delete_user',
      retry: 'safe',
      summary: 'Delete a user',
      method: 'delete',
      path: '/api/v1/admin/users/{id}',
      who: WRITES,
      applicationScope: 'roles',
      params: Id,
      ok: closed({ status: Type.Literal('user deleted') }),
      refusals: { forbidden: 403, not_found: 404, last_admin: 409 },
      waitsFor: ['users', 'sessions', 'revocations'],
    },
    async (request) => {
      const { tenantId, params } = request;
      const of = { tenantId, userId: params.id };
      const command = await needs.command(request);
      const by = administratorOf(request.principal);
      const decided = await decideOnUser(needs, of, command, ({ mayLeave }, user) =>
        deleteUser({ by, mayLeave, now: command.now }, user),
      );
      if (!decided.done) return { refused: decided.reason };
      const emailHash = decided.state.status === 'deleted' ? decided.state.emailHash : '';
      // The policy repeats this after a crash; here it releases the address before the answer.
      await needs.accounts.releaseAddress({ ...of, emailHash }, command);
      return { ok: { status: 'user deleted' as const }, wrote: decided.position };
    },
  );
