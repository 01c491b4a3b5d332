/** Keeps `users`, which the administrators' list reads; who was deleted has no row. */
import type { Sealed } from '@cardea/crypto';
import {
  type Projected,
  type Projection,
  type ProjectionTools,
  patch,
  put,
  remove,
  type TableChange,
} from '@cardea/read-models';
import type { UserEvent } from './user.ts';

/** All that this table needs to know of a sign-in. */
type SignIn = Projected<{ readonly user_id: string; readonly started_at: string }>;
type On<T extends UserEvent['type']> = Projected<Extract<UserEvent, { type: T }>['data']>;

const change = (row: TableChange['change']): readonly TableChange[] => [
  { table: 'users', change: row },
];

export const usersProjection: Projection = {
  name: 'users',
  log: 'identity',
  tables: [
    {
      name: 'users',
      key: ['id'],
      columns: {
        id: 'text',
        tenant_id: 'text',
        email: 'text',
        email_verified: 'boolean',
        display_name: 'text',
        avatar_url: 'text',
        roles: 'text[]',
        vouched: 'boolean',
        status: 'text',
        has_password: 'boolean',
        mfa_enabled: 'boolean',
        identities: 'text[]',
        epoch: 'integer',
        keep_sid: 'text',
        last_login_at: 'timestamptz',
        created_at: 'timestamptz',
        updated_at: 'timestamptz',
      },
    },
  ],
  on: {
    UserRegistered: async (event: On<'UserRegistered'>, tools) => {
      const { data, metadata } = event;
      return change(
        put({
          id: data.id,
          tenant_id: metadata.tenantId,
          email: await opened(tools, event, 'email', data.email),
          email_verified: data.email_verified,
          display_name: await opened(tools, event, 'display_name', data.display_name),
          avatar_url: await opened(tools, event, 'avatar_url', data.avatar_url),
          roles: data.roles,
          // Of those of before it is announced, by an event of its own.
          vouched: data.vouched ?? false,
          status: 'active',
          has_password: false,
          mfa_enabled: false,
          identities: [],
          epoch: 0,
          keep_sid: null,
          last_login_at: null,
          created_at: data.created_at,
          updated_at: data.created_at,
        }),
      );
    },
    PasswordSet: ({ data }: On<'PasswordSet'>) =>
      change(
        patch(
          { id: data.id },
          {
            has_password: true,
            epoch: data.epoch,
            keep_sid: data.keep_sid,
            updated_at: data.at,
            ...(data.by === 'reset' ? { email_verified: true } : {}),
          },
        ),
      ),
    EmailVerified: ({ data }: On<'EmailVerified'>) =>
      change(patch({ id: data.id }, { email_verified: true, updated_at: data.at })),
    ProfileChanged: async (event: On<'ProfileChanged'>, tools) => {
      const { display_name: name, avatar_url: picture, id, at } = event.data;
      return change(
        patch(
          { id },
          {
            updated_at: at,
            ...(name === undefined
              ? {}
              : { display_name: await opened(tools, event, 'display_name', name) }),
            ...(picture === undefined
              ? {}
              : { avatar_url: await opened(tools, event, 'avatar_url', picture) }),
          },
        ),
      );
    },
    RolesChanged: ({ data }: On<'RolesChanged'>) =>
      change(patch({ id: data.id }, { roles: data.roles, updated_at: data.at })),
    UserVouched: ({ data }: On<'UserVouched'>) =>
      change(patch({ id: data.id }, { vouched: true, updated_at: data.at })),
    VouchWithdrawn: ({ data }: On<'VouchWithdrawn'>) =>
      change(patch({ id: data.id }, { vouched: false, updated_at: data.at })),
    UserDisabled: ({ data }: On<'UserDisabled'>) =>
      change(
        patch(
          { id: data.id },
          { status: 'disabled', epoch: data.epoch, keep_sid: null, updated_at: data.at },
        ),
      ),
    UserEnabled: ({ data }: On<'UserEnabled'>) =>
      change(patch({ id: data.id }, { status: 'active', updated_at: data.at })),
    SessionsRevoked: ({ data }: On<'SessionsRevoked'>) =>
      change(patch({ id: data.id }, { epoch: data.epoch, keep_sid: data.keep_sid })),
    UserDeleted: ({ data }: On<'UserDeleted'>) => change(remove({ id: data.id })),
    SessionStarted: ({ data }: SignIn) =>
      change(patch({ id: data.user_id }, { last_login_at: data.started_at })),
  },
};

const opened = (
  tools: ProjectionTools,
  { streamId }: { readonly streamId: string },
  field: string,
  sealed: Sealed | null,
) => (sealed === null ? null : tools.open(sealed, { streamId, field }));
