/** What a user can read and change of their own account. */
import { named } from '@cardea/contracts';
import { type Endpoint, endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField, closed, profileFields, USERS_ONLY } from '../../../http/answers.ts';
import { avatarUrlField, displayNameField, nullable } from '../../../http/input-fields.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';
import { updateProfile } from '../update-profile.ts';
import { type ExistingUser, exists, users } from '../user.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'open' | 'seal'>;
};

const COMMON = {
  tag: 'Self-service',
  path: '/api/v1/user/profile',
  who: ['user'],
  applicationScope: 'account',
  tenant: 'optional',
  area: 'user',
  ok: named('UserProfile', closed(profileFields)),
  notTaken: USERS_ONLY,
} as const;

export const getProfileRoute = (needs: Pick<Dependencies, 'userDirectory'>): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'get_profile',
      summary: 'My profile',
      method: 'get',
      refusals: { not_found: 404 },
    },
    async ({ principal }) => {
      const { id, tenantId } = principal;
      const user = await needs.userDirectory.byId(tenantId, id);
      if (!exists(user)) return { refused: 'not_found' };
      return { ok: await profileOf(needs, user) };
    },
  );

export const updateProfileRoute = (needs: Dependencies): Endpoint =>
  endpoint(
    {
      ...COMMON,
      name: 'update_profile',
      retry: 'safe',
      summary: 'Change my profile',
      method: 'patch',
      body: Type.Object(
        {
          display_name: Type.Optional(nullable(displayNameField)),
          avatar_url: Type.Optional(nullable(avatarUrlField)),
        },
        { additionalProperties: false, minProperties: 1 },
      ),
      refusals: { invalid_request: 400, not_found: 404 },
      waitsFor: ['users'],
    },
    async (request) => {
      const { id: userId, tenantId } = request.principal;
      const { body } = request;
      const name = body.display_name === undefined ? null : displayName(body.display_name);
      const picture = body.avatar_url === undefined ? null : avatarUrl(body.avatar_url);
      if (name === undefined) return badField('display_name');
      if (picture === undefined) return badField('avatar_url');

      const command = await needs.command(request);
      const seal = async (field: 'display_name' | 'avatar_url', value: string | null) =>
        value === null ? null : needs.userDirectory.seal({ tenantId, userId }, field, value);
      const sealedName = await seal('display_name', name);
      const sealedPicture = await seal('avatar_url', picture);
      if (sealedName === 'erased' || sealedPicture === 'erased') return { refused: 'not_found' };
      const change = {
        ...(body.display_name === undefined ? {} : { displayName: sealedName }),
        ...(body.avatar_url === undefined ? {} : { avatarUrl: sealedPicture }),
        now: command.now,
      };
      const decided = await needs.streams.decideOn(users, userId, command, (user) =>
        updateProfile(change, user),
      );
      if (!decided.accepted || !exists(decided.state)) return { refused: 'not_found' };
      return { ok: await profileOf(needs, decided.state), wrote: decided.position };
    },
  );

async function profileOf(
  { userDirectory }: Pick<Dependencies, 'userDirectory'>,
  user: ExistingUser,
) {
  const opened = await userDirectory.open(user);
  return {
    id: user.id,
    email: opened.email ?? '',
    email_verified: user.emailVerified,
    display_name: opened.displayName,
    avatar_url: opened.avatarUrl,
    roles: [...user.roles],
    created_at: user.createdAt,
  };
}
