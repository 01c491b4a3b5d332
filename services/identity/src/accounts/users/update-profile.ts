/** Changes a user's name and picture; fields that are not named stay. */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse } from '@cardea/event-store';
import { exists, type User, type UserEvent } from './user.ts';

export type UpdateProfile = {
  readonly displayName?: Sealed | null;
  readonly avatarUrl?: Sealed | null;
  readonly now: Date;
};

export function updateProfile(
  { displayName, avatarUrl, now }: UpdateProfile,
  user: User,
): Decision<UserEvent, 'not_found'> {
  if (!exists(user)) return refuse('not_found');
  return accept({
    type: 'ProfileChanged',
    data: {
      id: user.id,
      ...(displayName === undefined ? {} : { display_name: displayName }),
      ...(avatarUrl === undefined ? {} : { avatar_url: avatarUrl }),
      at: now.toISOString(),
    },
  });
}
