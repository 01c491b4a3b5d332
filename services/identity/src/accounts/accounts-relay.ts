/** What other services hear of accounts (`docs/design/identity.md`, What it tells other services). */
import type { Sealed } from '@cardea/crypto';
import type { RecordedEvent } from '@cardea/event-store';
import {
  integrationEvent,
  type RelayTools,
  relayOf,
  stateAt,
} from '../streams/integration-events.ts';
import { snapshotOf, type UserSnapshot } from './user-directory.ts';
import { exists, type UserEvent, users } from './users/user.ts';

type Event = Pick<RecordedEvent, 'streamId'>;

/** The user as of this event of their own stream. */
async function userOf({ streamId }: Event, tools: RelayTools): Promise<UserSnapshot> {
  const user = await stateAt(users, tools);
  if (!exists(user)) throw new Error('a user event without a user');
  const open = (sealed: Sealed | null, field: string) =>
    sealed === null ? null : tools.open(sealed, { streamId, field });
  return snapshotOf(user, {
    email: await open(user.email, 'email'),
    displayName: await open(user.displayName, 'display_name'),
  });
}

const updated =
  (...changed: readonly string[]) =>
  async (event: Event, tools: RelayTools) =>
    integrationEvent('user.updated', { ...(await userOf(event, tools)), changed: [...changed] });

const statusChanged = async (event: Event, tools: RelayTools) =>
  integrationEvent('user.status_changed', {
    ...(await userOf(event, tools)),
    changed: ['status'],
  });

export const accountsRelay = relayOf<UserEvent>({
  UserRegistered: async (event, tools) =>
    integrationEvent('user.created', { ...(await userOf(event, tools)), via: event.data.via }),
  PasswordSet: async (event, tools) => {
    const { by, at } = event.data;
    if (by === 'created') return undefined;
    const user = await userOf(event, tools);
    return integrationEvent('user.password_changed', { ...user, by, changed_at: at });
  },
  EmailVerified: async (event, tools) =>
    integrationEvent('user.email_verified', {
      ...(await userOf(event, tools)),
      verified_at: event.data.at,
    }),
  ProfileChanged: async (event, tools) => {
    const changed = (['display_name', 'avatar_url'] as const).filter((key) => key in event.data);
    return integrationEvent('user.updated', { ...(await userOf(event, tools)), changed });
  },
  RolesChanged: updated('roles'),
  UserVouched: updated('vouched'),
  VouchWithdrawn: updated('vouched'),
  UserDisabled: statusChanged,
  UserEnabled: statusChanged,
  UserDeleted: ({ data }) =>
    integrationEvent('user.deleted', { id: data.id, deleted_at: data.deleted_at }),
  SessionsRevoked: ({ data }) =>
    integrationEvent('sessions.revoked', {
      user_id: data.id,
      kept_sid: data.keep_sid,
      count: data.count,
    }),
});
