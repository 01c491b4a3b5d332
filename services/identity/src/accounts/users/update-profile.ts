/** Changes a user's profile. Fields that are missing stay unchanged. */
import { accept, type Decision, refuse } from '@cardea/event-store';
import type { SealedProfile } from '../../http/profile-fields.ts';
import { exists, type User, type UserEvent } from './user.ts';

export type UpdateProfile = {
  readonly profile: SealedProfile;
  readonly now: Date;
};

export function updateProfile(
  { profile, now }: UpdateProfile,
  user: User,
): Decision<UserEvent, 'not_found'> {
  if (!exists(user)) return refuse('not_found');
  return accept({
    type: 'ProfileChanged',
    data: {
      id: user.id,
      ...profile,
      at: now.toISOString(),
    },
  });
}
