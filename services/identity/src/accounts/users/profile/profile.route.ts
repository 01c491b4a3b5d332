/** The part of their own account that a user can read and change. */
import { named } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { badField, closed, metadataField, profileFields } from '../../../http/answers.ts';
import { profileInputFields, readProfile, shownProfile } from '../../../http/profile-fields.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { updateProfile } from '../update-profile.ts';
import { type ExistingUser, exists, users } from '../user.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'metadataOf' | 'open' | 'sealProfile'>;
};

const COMMON = {
  tag: 'Self-service',
  path: '/api/v1/user/profile',
  who: ['user'],
  tenant: 'optional',
  ok: named('UserProfile', closed({ ...profileFields, public_metadata: metadataField })),
} as const;

export const getProfileRoute = (needs: Pick<Dependencies, 'userDirectory'>) =>
  endpoint(
    {
      ...COMMON,
      name: 'get_profile',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'My profile',
      description: "Shows the caller's profile.",
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

export const updateProfileRoute = (needs: Dependencies) =>
  endpoint(
    {
      ...COMMON,
      name: 'update_profile',
      access: { class: 'things', applicationScope: 'account' },
      repeat: 'safe',
      summary: 'Change my profile',
      description: "Changes the caller's profile; what the body does not name stays.",
      method: 'patch',
      body: Type.Object(profileInputFields, { additionalProperties: false, minProperties: 1 }),
      refusals: { invalid_request: 400, not_found: 404 },
      consistency: { waitsFor: ['users'] },
    },
    async (request) => {
      const { id: userId, tenantId } = request.principal;
      const values = readProfile(request.body);
      if (typeof values === 'string') return badField(values);
      const command = await needs.command(request);
      const profile = await needs.userDirectory.sealProfile({ tenantId, userId }, values);
      if (profile === 'erased') return { refused: 'not_found' };
      const decided = await needs.streams.decideOn(users, userId, command, (user) =>
        updateProfile({ profile, now: command.now }, user),
      );
      if (!decided.accepted || !exists(decided.state)) return { refused: 'not_found' };
      return { ok: await profileOf(needs, decided.state), wrote: decided.position };
    },
  );

async function profileOf(
  { userDirectory }: Pick<Dependencies, 'userDirectory'>,
  user: ExistingUser,
) {
  const [opened, { public_metadata }] = await Promise.all([
    userDirectory.open(user),
    userDirectory.metadataOf(user),
  ]);
  return {
    id: user.id,
    email: opened.email ?? '',
    email_verified: user.emailVerified,
    ...shownProfile(opened),
    public_metadata,
    roles: [...user.roles],
    created_at: user.createdAt,
  };
}
