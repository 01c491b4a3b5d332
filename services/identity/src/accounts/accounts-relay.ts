/**
 * Publishes the account facts that other services receive (`docs/design/identity.md`, What it tells other services).
 */
import type { identityEvents } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { type RelayTools, relay } from '@cardea/event-bus';
import type { RecordedEvent, ReservationEvent } from '@cardea/event-store';
import { PROFILE_FIELDS } from '../http/profile-fields.ts';
import type { AdministratorListEvent } from './administrators/administrator-list.ts';
import { snapshotOf, type UserSnapshot } from './user-directory.ts';
import { METADATA_KINDS } from './users/metadata.ts';
import { exists, type UserEvent, users } from './users/user.ts';

type Event = Pick<RecordedEvent, 'streamId'>;

/** The user as of this event of the user's own stream. */
async function userOf({ streamId }: Event, tools: RelayTools): Promise<UserSnapshot> {
  const user = await tools.stateOf(users);
  if (!exists(user)) throw new Error('a user event without a user');
  const open = (sealed: Sealed | null, field: string) =>
    sealed === null ? null : tools.open(sealed, { streamId, field });
  return snapshotOf(user, {
    email: await open(user.email, 'email'),
    displayName: await open(user.displayName, 'display_name'),
    locale: await open(user.locale ?? null, 'locale'),
  });
}

const updated =
  (...changed: readonly string[]) =>
  async (event: Event, tools: RelayTools) => ({
    type: 'user.updated' as const,
    data: { ...(await userOf(event, tools)), changed: [...changed] },
  });

const statusChanged = async (event: Event, tools: RelayTools) => ({
  type: 'user.status_changed' as const,
  data: {
    ...(await userOf(event, tools)),
    changed: ['status'],
  },
});

export const accountsRelay = relay<
  UserEvent | AdministratorListEvent | ReservationEvent,
  typeof identityEvents
>({
  UserRegistered: async (event, tools) => ({
    type: 'user.created',
    data: { ...(await userOf(event, tools)), via: event.data.via },
  }),
  PasswordSet: async (event, tools) => {
    const { by, at } = event.data;
    if (by === 'created') return undefined;
    const user = await userOf(event, tools);
    return { type: 'user.password_changed', data: { ...user, by, changed_at: at } };
  },
  EmailVerified: async (event, tools) => ({
    type: 'user.email_verified',
    data: {
      ...(await userOf(event, tools)),
      verified_at: event.data.at,
    },
  }),
  EmailChangeRequested: ({ data: { id } }) => ({
    type: 'user.email_change',
    data: { id, step: 'requested', by: 'user' },
  }),
  EmailChangeProven: ({ data: { id } }) => ({
    type: 'user.email_change',
    data: { id, step: 'proven', by: 'user' },
  }),
  EmailChangeStopped: ({ data: { id, by } }) => ({
    type: 'user.email_change',
    data: { id, step: 'stopped', by },
  }),
  EmailChanged: updated('email'),
  DeletionScheduled: ({ data: { id, delete_at } }) => ({
    type: 'user.deletion',
    data: { id, step: 'scheduled', delete_at },
  }),
  DeletionCancelled: ({ data: { id } }) => ({
    type: 'user.deletion',
    data: { id, step: 'cancelled', delete_at: null },
  }),
  ProfileChanged: async (event, tools) => {
    const changed = PROFILE_FIELDS.filter((key) => key in event.data);
    return { type: 'user.updated', data: { ...(await userOf(event, tools)), changed } };
  },
  MetadataSet: async (event, tools) => {
    const changed = METADATA_KINDS.filter((key) => key in event.data);
    return { type: 'user.updated', data: { ...(await userOf(event, tools)), changed } };
  },
  RolesChanged: updated('roles'),
  UserVouched: updated('vouched'),
  VouchWithdrawn: updated('vouched'),
  UserDisabled: statusChanged,
  UserEnabled: statusChanged,
  UserDeleted: ({ data }) => ({
    type: 'user.deleted',
    data: { id: data.id, deleted_at: data.deleted_at },
  }),
  FactorAdded: ({ data: { id, factor_id, factor_type: type } }) => ({
    type: 'user.factor_changed',
    data: { id, factor_id, type, change: 'verified' },
  }),
  FactorRemoved: ({ data: { id, factor_id, factor_type: type } }) => ({
    type: 'user.factor_changed',
    data: { id, factor_id, type, change: 'removed' },
  }),
  RecoveryCodesSet: ({ data: { id, factor_id } }) => ({
    type: 'user.factor_changed',
    data: { id, factor_id, type: 'recovery', change: 'enrolled' },
  }),
  AccountReclaimed: ({ data: { id, count } }) => ({
    type: 'sessions.revoked',
    data: { user_id: id, kept_sid: null, count },
  }),
  IdentityLinked: ({ data: { id, provider } }) => ({
    type: 'user.identity_changed',
    data: { id, provider, change: 'linked' },
  }),
  IdentityUnlinked: ({ data: { id, provider } }) => ({
    type: 'user.identity_changed',
    data: { id, provider, change: 'unlinked' },
  }),
  SessionsRevoked: ({ data }) => ({
    type: 'sessions.revoked',
    data: {
      user_id: data.id,
      kept_sid: data.keep_sid,
      count: data.count,
    },
  }),
});
