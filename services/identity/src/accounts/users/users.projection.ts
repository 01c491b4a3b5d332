/** Maintains `users`, which the administrators' list reads. A deleted user has no row. */
import type { UserCreatedVia } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import {
  orNull,
  type ProjectionTools,
  projection,
  type TableChange,
  table,
  textOf,
} from '@cardea/read-models';
import {
  NO_PROFILE,
  PROFILE_FIELDS,
  type ProfileField,
  profileColumns,
} from '../../http/profile-fields.ts';
import { forgetTenantIn, type TenantDeleted } from '../../workspaces/workspaces.module.ts';
import type { AddressFrom } from '../address-holder.ts';
import type { ExistingUser, UserEvent } from './user.ts';

type Lockout = { readonly blocked_until: string | null };
/** The fields of sign-in events, successful or failed, that this table needs. */
type SignIn =
  | {
      readonly type: 'SignInFailed' | 'SignInCleared';
      readonly data: {
        readonly user_id: string | null;
        readonly after: { readonly prefixes: readonly Lockout[]; readonly all: Lockout };
      };
    }
  | {
      readonly type: 'SessionStarted';
      readonly data: { readonly user_id: string; readonly started_at: string };
    }
  | {
      readonly type: 'SignedIn';
      readonly data: { readonly user_id: string; readonly at: string };
    };

export const userRows = table('users', {
  key: ['id'],
  columns: {
    id: 'text',
    tenant_id: 'text',
    email: orNull('text'),
    email_verified: 'boolean',
    address_from: textOf<AddressFrom>(),
    ...profileColumns,
    roles: 'text[]',
    vouched: 'boolean',
    status: textOf<ExistingUser['status']>(),
    has_password: 'boolean',
    mfa_enabled: 'boolean',
    identities: 'text[]',
    epoch: 'integer',
    keep_sid: orNull('text'),
    last_login_at: orNull('timestamptz'),
    locked_until: orNull('timestamptz'),
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
});

const PROVEN = { email_verified: true, address_from: 'proof' } as const;

/** An administrator may state that an address is proven without a proof by its holder. */
function addressFrom(of: {
  readonly via: UserCreatedVia;
  readonly email_verified: boolean;
}): AddressFrom {
  if (of.via === 'admin' || of.via === 'import') return 'administrator';
  return of.email_verified ? 'proof' : 'registrant';
}

const row = (change: TableChange): readonly TableChange[] => [change];

export const usersProjection = projection<UserEvent | SignIn | TenantDeleted>()({
  name: 'users',
  log: 'identity',
  tables: [userRows],
  on: {
    UserRegistered: async (event, tools) => {
      const { data, metadata } = event;
      return row(
        userRows.put({
          id: data.id,
          tenant_id: metadata.tenantId,
          email: await opened(tools, event, 'email', data.email),
          email_verified: data.email_verified,
          address_from: addressFrom(data),
          ...NO_PROFILE,
          display_name: await opened(tools, event, 'display_name', data.display_name),
          avatar_url: await opened(tools, event, 'avatar_url', data.avatar_url),
          roles: data.roles,
          vouched: data.vouched,
          status: data.invited ? 'invited' : 'active',
          has_password: false,
          mfa_enabled: false,
          identities: [],
          epoch: 0,
          keep_sid: null,
          last_login_at: null,
          locked_until: null,
          created_at: data.created_at,
          updated_at: data.created_at,
        }),
      );
    },
    PasswordSet: ({ data }) =>
      row(
        userRows.patch(
          { id: data.id },
          {
            has_password: true,
            epoch: data.epoch,
            keep_sid: data.keep_sid,
            updated_at: data.at,
            ...(data.by === 'reset' ? PROVEN : {}),
          },
        ),
      ),
    EmailVerified: ({ data }) =>
      row(userRows.patch({ id: data.id }, { ...PROVEN, updated_at: data.at })),
    EmailChanged: async (event, tools) => {
      const { id, email, email_verified, by, epoch, keep_sid, at } = event.data;
      const changed = {
        email: await opened(tools, event, 'email', email),
        email_verified,
        address_from: by === 'user' ? ('proof' as const) : ('administrator' as const),
        epoch,
        keep_sid,
        updated_at: at,
      };
      return row(userRows.patch({ id }, changed));
    },
    ProfileChanged: async (event, tools) => {
      const { id, at } = event.data;
      const profile: { [field in ProfileField]?: string | null } = {};
      for (const field of PROFILE_FIELDS) {
        const sealed = event.data[field];
        if (sealed !== undefined) profile[field] = await opened(tools, event, field, sealed);
      }
      return [userRows.patch({ id }, { updated_at: at, ...profile })];
    },
    MetadataSet: ({ data: { id, at } }) => row(userRows.patch({ id }, { updated_at: at })),
    RolesChanged: ({ data }) =>
      row(
        userRows.patch(
          { id: data.id },
          {
            roles: data.roles,
            ...(data.vouched === true ? { vouched: true } : {}),
            updated_at: data.at,
          },
        ),
      ),
    UserVouched: ({ data }) =>
      row(userRows.patch({ id: data.id }, { vouched: true, updated_at: data.at })),
    VouchWithdrawn: ({ data }) =>
      row(userRows.patch({ id: data.id }, { vouched: false, updated_at: data.at })),
    UserDisabled: ({ data }) =>
      row(
        userRows.patch(
          { id: data.id },
          { status: 'disabled', epoch: data.epoch, keep_sid: null, updated_at: data.at },
        ),
      ),
    UserEnabled: ({ data }) =>
      row(userRows.patch({ id: data.id }, { status: 'active', updated_at: data.at })),
    SessionsRevoked: ({ data }) =>
      row(userRows.patch({ id: data.id }, { epoch: data.epoch, keep_sid: data.keep_sid })),
    AccountReclaimed: ({ data: { id, epoch, at } }) =>
      row(userRows.patch({ id }, { has_password: false, epoch, keep_sid: null, updated_at: at })),
    IdentityLinked: ({ data: { id, providers, at } }) =>
      row(userRows.patch({ id }, { identities: providers, updated_at: at })),
    IdentityUnlinked: ({ data: { id, providers, at } }) =>
      row(userRows.patch({ id }, { identities: providers, updated_at: at })),
    UserDeleted: ({ data }) => row(userRows.remove({ id: data.id })),
    FactorAdded: ({ data }) =>
      row(userRows.patch({ id: data.id }, { mfa_enabled: true, updated_at: data.at })),
    FactorRemoved: ({ data: { id, mfa_enabled, at } }) =>
      row(userRows.patch({ id }, { mfa_enabled, updated_at: at })),
    RecoveryCodesSet: ({ data }) => row(userRows.patch({ id: data.id }, { updated_at: data.at })),
    SessionStarted: ({ data }) =>
      row(userRows.patch({ id: data.user_id }, { last_login_at: data.started_at })),
    SignedIn: ({ data }) => row(userRows.patch({ id: data.user_id }, { last_login_at: data.at })),
    SignInFailed: ({ data }) => lockedRow(data),
    SignInCleared: ({ data }) => lockedRow(data),
  },
  apply: forgetTenantIn('users'),
});

/** The time until which some network, or every network except known ones, may not try to sign in. */
function lockedRow({
  user_id: id,
  after,
}: Extract<SignIn, { type: 'SignInFailed' | 'SignInCleared' }>['data']): readonly TableChange[] {
  if (id === null) return [];
  const ends = [after.all, ...after.prefixes].flatMap(({ blocked_until }) => blocked_until ?? []);
  return row(userRows.patch({ id }, { locked_until: ends.toSorted().at(-1) ?? null }));
}

const opened = (
  tools: ProjectionTools,
  { streamId }: { readonly streamId: string },
  field: string,
  sealed: Sealed | null,
) => (sealed === null ? null : tools.open(sealed, { streamId, field }));
