/**
 * A user account. Whatever names the person is sealed under the user's own key; the epoch rises when
 * every session but one is to end.
 */
import type { UserCreatedVia } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';

export type UserFacts = {
  readonly id: string;
  readonly email: Sealed;
  /** Name of the address's reservation and mailbox. */
  readonly emailHash: string;
  readonly emailVerified: boolean;
  readonly displayName: Sealed | null;
  readonly avatarUrl: Sealed | null;
  readonly roles: readonly string[];
  /** An administrator vouches for this person. */
  readonly vouched: boolean;
  /** Unix seconds: access tokens that were issued before it show a rank that was taken since. */
  readonly tokensBefore: number;
  /** A PHC string, sealed; null: signs in by other means only. */
  readonly passwordHash: Sealed | null;
  /** The epoch that began with the password: names it, however often it is hashed anew. */
  readonly passwordEpoch: number;
  /** Sessions of another epoch are dead, but for `keepSid`. */
  readonly epoch: number;
  readonly keepSid: string | null;
  /** The epoch as of the last time that all sessions were ended, other than by a change of the own password. */
  readonly revokedEpoch: number;
  /** When the epoch last rose. */
  readonly epochSince: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Of the request that made it, for a repeat under the same Idempotency-Key. */
  readonly requestHash: string | null;
};

export type User =
  | { readonly status: 'none' }
  /** Its registration stopped half way and somebody else has the address now. */
  | { readonly status: 'abandoned' }
  | ({ readonly status: 'active' | 'disabled' } & UserFacts)
  | { readonly status: 'deleted'; readonly id: string; readonly emailHash: string };
export type ExistingUser = Extract<User, { status: 'active' | 'disabled' }>;

export type UserEvent =
  | { readonly type: 'UserAbandoned'; readonly data: { readonly id: string } }
  | {
      readonly type: 'UserRegistered';
      readonly data: {
        readonly id: string;
        readonly email: Sealed;
        readonly email_hash: string;
        readonly email_verified: boolean;
        readonly display_name: Sealed | null;
        readonly avatar_url: Sealed | null;
        readonly roles: readonly string[];
        readonly via: UserCreatedVia;
        readonly vouched: boolean;
        readonly request_hash: string | null;
        readonly created_at: string;
      };
    }
  | {
      readonly type: 'PasswordSet';
      readonly data: {
        readonly id: string;
        readonly hash: Sealed;
        /** `created`: with the account, which is no change. */
        readonly by: 'created' | 'user' | 'reset' | 'admin';
        readonly epoch: number;
        readonly keep_sid: string | null;
        readonly at: string;
      };
    }
  | {
      readonly type: 'PasswordRehashed';
      readonly data: { readonly id: string; readonly hash: Sealed };
    }
  | {
      readonly type: 'EmailVerified';
      readonly data: { readonly id: string; readonly at: string };
    }
  | {
      readonly type: 'ProfileChanged';
      readonly data: {
        readonly id: string;
        readonly display_name?: Sealed | null;
        readonly avatar_url?: Sealed | null;
        readonly at: string;
      };
    }
  | {
      readonly type: 'RolesChanged';
      readonly data: {
        readonly id: string;
        readonly roles: readonly string[];
        /** Of the second version, where a role above `member` was taken. */
        readonly tokens_before?: number;
        /** Of the first version alone, which had no event for it: an administrator's token gave them. */
        readonly vouched?: boolean;
        readonly at: string;
      };
    }
  | { readonly type: 'UserVouched'; readonly data: { readonly id: string; readonly at: string } }
  | { readonly type: 'VouchWithdrawn'; readonly data: { readonly id: string; readonly at: string } }
  | {
      readonly type: 'UserDisabled';
      readonly data: { readonly id: string; readonly epoch: number; readonly at: string };
    }
  | { readonly type: 'UserEnabled'; readonly data: { readonly id: string; readonly at: string } }
  | {
      readonly type: 'SessionsRevoked';
      readonly data: {
        readonly id: string;
        readonly epoch: number;
        readonly keep_sid: string | null;
        readonly count: number;
        readonly at: string;
      };
    }
  | {
      readonly type: 'UserDeleted';
      readonly data: {
        readonly id: string;
        readonly email_hash: string;
        readonly deleted_at: string;
      };
    };

type AfterRegistered = Exclude<UserEvent, { type: 'UserRegistered' | 'UserAbandoned' }>;

/** How accounts came about that an administrator stood behind, or that began a workspace. */
const VOUCHED_VIA: readonly UserCreatedVia[] = [
  'signup',
  'bootstrap',
  'admin',
  'import',
  'invitation',
];

export const users: Stream<User, UserEvent> = {
  noun: 'user',
  initial: { status: 'none' },
  upcasters: {
    UserRegistered: [
      (data) => ({ ...data, vouched: VOUCHED_VIA.includes(data['via'] as UserCreatedVia) }),
    ],
    RolesChanged: [(data, { actor }) => ({ ...data, vouched: actor.type === 'admin' })],
  },
  evolve: (before, event) => {
    if (event.type === 'UserAbandoned') return { status: 'abandoned' };
    if (event.type === 'UserRegistered') {
      const { data } = event;
      return {
        status: 'active',
        id: data.id,
        email: data.email,
        emailHash: data.email_hash,
        emailVerified: data.email_verified,
        displayName: data.display_name,
        avatarUrl: data.avatar_url,
        roles: data.roles,
        vouched: data.vouched,
        tokensBefore: 0,
        passwordHash: null,
        passwordEpoch: 0,
        epoch: 0,
        keepSid: null,
        revokedEpoch: 0,
        epochSince: data.created_at,
        createdAt: data.created_at,
        updatedAt: data.created_at,
        requestHash: data.request_hash,
      };
    }
    return exists(before) ? evolveExisting(before, event) : before;
  },
};

function evolveExisting(user: ExistingUser, { type, data }: AfterRegistered): User {
  switch (type) {
    case 'PasswordSet':
      return {
        ...user,
        passwordHash: data.hash,
        passwordEpoch: data.epoch,
        epoch: data.epoch,
        keepSid: data.keep_sid,
        revokedEpoch: data.by === 'user' ? user.revokedEpoch : data.epoch,
        epochSince: data.at,
        // A reset came through the mailbox, which proves the address.
        emailVerified: user.emailVerified || data.by === 'reset',
        updatedAt: data.at,
      };
    case 'PasswordRehashed':
      return { ...user, passwordHash: data.hash };
    case 'EmailVerified':
      return { ...user, emailVerified: true, updatedAt: data.at };
    case 'ProfileChanged':
      return {
        ...user,
        displayName: data.display_name === undefined ? user.displayName : data.display_name,
        avatarUrl: data.avatar_url === undefined ? user.avatarUrl : data.avatar_url,
        updatedAt: data.at,
      };
    case 'RolesChanged':
      return {
        ...user,
        roles: data.roles,
        vouched: user.vouched || data.vouched === true,
        tokensBefore: data.tokens_before ?? user.tokensBefore,
        updatedAt: data.at,
      };
    case 'UserVouched':
      return { ...user, vouched: true, updatedAt: data.at };
    case 'VouchWithdrawn':
      return { ...user, vouched: false, updatedAt: data.at };
    case 'UserDisabled':
      return {
        ...user,
        status: 'disabled',
        ...risen(data),
        keepSid: null,
        updatedAt: data.at,
      };
    case 'UserEnabled':
      return { ...user, status: 'active', updatedAt: data.at };
    case 'SessionsRevoked':
      return { ...user, ...risen(data), keepSid: data.keep_sid };
    case 'UserDeleted':
      return { status: 'deleted', id: user.id, emailHash: user.emailHash };
  }
}

const risen = ({ epoch, at }: { readonly epoch: number; readonly at: string }) => ({
  epoch,
  revokedEpoch: epoch,
  epochSince: at,
});

/** A session that is to outlive the others; its epoch is the user's when it began. */
export type KeptSession = { readonly sid: string; readonly userEpoch: number };

/** Only what is alive is kept: a session that has ended before is not brought back. */
export const keptSid = (user: ExistingUser, kept: KeptSession | null): string | null =>
  kept !== null && (kept.userEpoch === user.epoch || kept.sid === user.keepSid) ? kept.sid : null;

export const exists = (user: User): user is ExistingUser =>
  user.status === 'active' || user.status === 'disabled';

/** Keeps a half-made account from ever being finished, so that its address can be given away. */
export function abandon(user: User): Decision<UserEvent, 'user_exists'> {
  if (user.status === 'abandoned') return accept();
  if (user.status !== 'none') return refuse('user_exists');
  return accept({ type: 'UserAbandoned', data: { id: '' } });
}

/** The built-in roles, each above those before it; a tenant's own roles rank with `member`. */
export const ROLES = ['member', 'admin', 'owner', 'system_admin'] as const;

const ADMIN_ROLES: readonly string[] = ROLES.filter((role) => role !== 'member');

/** Whether somebody who had these roles may do less with those. */
export const isDemotion = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((role) => ADMIN_ROLES.includes(role) && !after.includes(role));

/** Counts among those without whom a tenant would have no administrator. */
export const isActiveAdmin = (user: User): boolean =>
  user.status === 'active' && user.roles.some((role) => ADMIN_ROLES.includes(role));

export const rankOf = (roles: readonly string[]): number =>
  Math.max(0, ...roles.map((role) => (ROLES as readonly string[]).indexOf(role)));
