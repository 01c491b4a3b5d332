/**
 * A user account. Personal data is encrypted under the user's own key; the epoch rises when every session
 * except one has to end.
 */
import type { UserCreatedVia } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import {
  changedFactors,
  NO_SECOND_FACTORS,
  type SecondFactorEvent,
  type SecondFactors,
} from './second-factors.ts';

export type UserFacts = {
  readonly id: string;
  readonly email: Sealed;
  /** Name of the address's reservation and mailbox. */
  readonly emailHash: string;
  readonly emailVerified: boolean;
  readonly displayName: Sealed | null;
  readonly avatarUrl: Sealed | null;
  readonly roles: readonly string[];
  /** An administrator vouches for this user. */
  readonly vouched: boolean;
  /** Unix seconds: access tokens issued before it may contain a rank that was removed since. */
  readonly tokensBefore: number;
  /** A PHC string, encrypted; null: signs in only by other methods. */
  readonly passwordHash: Sealed | null;
  /** The epoch that began with the password; identifies the password however often it is rehashed. */
  readonly passwordEpoch: number;
  readonly secondFactors: SecondFactors;
  /** Sessions of another epoch have ended, except `keepSid`. */
  readonly epoch: number;
  readonly keepSid: string | null;
  /**
   * The epoch as of the last time that all sessions were ended for a reason other than the user changing
   * their own password.
   */
  readonly revokedEpoch: number;
  /** When the epoch last rose. */
  readonly epochSince: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Of the request that created it, for a repeat under the same Idempotency-Key. */
  readonly requestHash: string | null;
};

export type User =
  | { readonly status: 'none' }
  /** Its registration was never completed, and the address has been released. */
  | { readonly status: 'abandoned' }
  /** `invited`: created for its owner, who has not taken it over yet. */
  | ({ readonly status: 'active' | 'invited' | 'disabled' } & UserFacts)
  | { readonly status: 'deleted'; readonly id: string; readonly emailHash: string };
export type ExistingUser = Extract<User, UserFacts>;

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
        /** Its owner has to take it over first. */
        readonly invited?: true;
        readonly created_at: string;
      };
    }
  | {
      readonly type: 'PasswordSet';
      readonly data: {
        readonly id: string;
        readonly hash: Sealed;
        /** `created`: set with the account, which is not a change. */
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
        /** Since version 2, if a role above `member` was removed. */
        readonly tokens_before?: number;
        /** Only in version 1, which had no event for it: an administrator's token gave the roles. */
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
    }
  | SecondFactorEvent;

type AfterRegistered = Exclude<UserEvent, { type: 'UserRegistered' | 'UserAbandoned' }>;

/** Kinds of creation in which an administrator vouched for the account, or that created a workspace. */
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
        status: data.invited ? 'invited' : 'active',
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
        secondFactors: NO_SECOND_FACTORS,
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

function evolveExisting(user: ExistingUser, event: AfterRegistered): User {
  const { type, data } = event;
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
        // A reset uses a mailed token, which proves the address.
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
    case 'FactorAdded':
    case 'FactorRemoved':
    case 'RecoveryCodesSet':
      return {
        ...user,
        secondFactors: changedFactors(user.secondFactors, event),
        updatedAt: data.at,
      };
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

/** Keeps only a live session: one that had ended before stays ended. */
export const keptSid = (user: ExistingUser, kept: KeptSession | null): string | null =>
  kept !== null && (kept.userEpoch === user.epoch || kept.sid === user.keepSid) ? kept.sid : null;

export const exists = (user: User): user is ExistingUser =>
  user.status === 'active' || user.status === 'invited' || user.status === 'disabled';

/** Prevents an incomplete account from ever being completed, so that its address can be released. */
export function abandon(user: User): Decision<UserEvent, 'user_exists'> {
  if (user.status === 'abandoned') return accept();
  if (user.status !== 'none') return refuse('user_exists');
  return accept({ type: 'UserAbandoned', data: { id: '' } });
}

/** The built-in roles, each above those before it; a tenant's own roles rank with `member`. */
export const ROLES = ['member', 'admin', 'owner', 'system_admin'] as const;

const ADMIN_ROLES: readonly string[] = ROLES.filter((role) => role !== 'member');

/** Whether a user with these roles may do less than with the earlier ones. */
export const isDemotion = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((role) => ADMIN_ROLES.includes(role) && !after.includes(role));

/** Whether the user counts as one of the tenant's administrators. */
export const isActiveAdmin = (user: User): boolean =>
  user.status === 'active' && user.roles.some((role) => ADMIN_ROLES.includes(role));

export const rankOf = (roles: readonly string[]): number =>
  Math.max(0, ...roles.map((role) => (ROLES as readonly string[]).indexOf(role)));
