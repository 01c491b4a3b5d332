/** Schemas and responses that the administrators' account endpoints share. */
import { NullableTime, named, Time } from '@cardea/contracts';
import Type from 'typebox';
import { closed, metadataField, profileFields } from '../../../http/answers.ts';
import { shownProfile } from '../../../http/profile-fields.ts';
import type { UserDirectory } from '../../user-directory.ts';
import { hasSecondFactor } from '../second-factors.ts';
import type { ExistingUser } from '../user.ts';
import type { AdminUser } from './admin-users.ts';

type Dependencies = {
  readonly userDirectory: Pick<UserDirectory, 'metadataOf' | 'open'>;
};

/** The states that an administrator can set. */
export const Status = named('UserStatus', Type.Enum(['active', 'disabled']));
/** `invited`: the person has not accepted yet. `locked`: sign-ins failed too often. */
export const AnyStatus = named(
  'AnyUserStatus',
  Type.Enum(['active', 'invited', 'disabled', 'locked']),
);
export const Roles = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
});
const userFields = {
  ...profileFields,
  status: Type.String(),
  vouched: Type.Boolean(),
  mfa_enabled: Type.Boolean(),
  last_login_at: NullableTime,
  identities: Type.Array(Type.String()),
  updated_at: Time,
};
/** The user as lists show it. */
export const AdminUserShape = named('User', closed(userFields));
export const AdminUserInFull = named(
  'UserInFull',
  closed({ ...userFields, public_metadata: metadataField, private_metadata: metadataField }),
);
export const Id = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });
export const READS = ['admin', 'api_key:users:read'] as const;
export const WRITES = ['admin', 'api_key:users:write'] as const;

export const shownInFull = async (
  needs: Dependencies,
  user: ExistingUser,
  row?: Pick<AdminUser, 'last_login_at' | 'status'>,
) => ({
  ...(await shown(needs, user, row)),
  ...(await needs.userDirectory.metadataOf(user)),
});

/**
 * Reads the stream, so that the response does not depend on the table. Only fields that sign-ins change come from the
 * table.
 */
async function shown(
  needs: Dependencies,
  user: ExistingUser,
  row?: Pick<AdminUser, 'last_login_at' | 'status'>,
) {
  const opened = await needs.userDirectory.open(user);
  const shape: AdminUser = {
    id: user.id,
    email: opened.email ?? '',
    email_verified: user.emailVerified,
    ...shownProfile(opened),
    roles: [...user.roles],
    created_at: user.createdAt,
    status: user.status === 'active' && row?.status === 'locked' ? 'locked' : user.status,
    vouched: user.vouched,
    mfa_enabled: hasSecondFactor(user),
    last_login_at: row?.last_login_at ?? null,
    identities: [],
    updated_at: user.updatedAt,
  };
  return shape;
}
