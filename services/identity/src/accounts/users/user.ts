/**
 * A user account. Personal data is encrypted under the user's own key; the epoch rises when every session
 * except one has to end.
 */
import type { UserCreatedVia } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import { NAMES_IN_STATE, type ProfileFacts } from '../../http/profile-fields.ts';
import { type Basis, type BasisNow, stands } from '../../streams/basis.ts';
import { changedEmail, type EmailChange, type PreviousEmail } from './emails-of-user.ts';
import { changedIdentities, type LinkedIdentity } from './identities.ts';
import { changedFactors, NO_SECOND_FACTORS, type SecondFactors } from './second-factors.ts';
import type { UserEvent } from './user-event.ts';

export type { UserEvent } from './user-event.ts';

export type UserFacts = ProfileFacts & {
  readonly id: string;
  readonly email: Sealed;
  /** The hash that names the address's reservation and mailbox. */
  readonly emailHash: string;
  readonly emailVerified: boolean;
  /** Previous addresses that are still reserved for the account. */
  readonly previousEmails?: readonly PreviousEmail[];
  /** The pending change to another address. */
  readonly emailChange?: EmailChange | null;
  /** When the account will be deleted, if its person requested that. */
  readonly deleteAt?: string | null;
  /** Encrypted JSON objects. */
  readonly publicMetadata?: Sealed | null;
  readonly privateMetadata?: Sealed | null;
  readonly roles: readonly string[];
  /** An administrator vouches for this user. */
  readonly vouched: boolean;
  /** Unix seconds: access tokens issued before it may contain a rank that was removed. */
  readonly tokensBefore: number;
  /** An encrypted PHC string. Null if the user signs in only by other methods. */
  readonly passwordHash: Sealed | null;
  /** Hashes of previous passwords, the latest first. */
  readonly passwordsBefore: readonly Sealed[];
  /** The epoch that began with the password. It identifies the password across rehashes. */
  readonly passwordEpoch: number;
  readonly secondFactors: SecondFactors;
  readonly identities: readonly LinkedIdentity[];
  /** Sessions of another epoch have ended, except `keepSid`. */
  readonly epoch: number;
  readonly keepSid: string | null;
  /**
   * The epoch as of the last time that all sessions were ended for a reason other than the user changing
   * their own password.
   */
  readonly revokedEpoch: number;
  /** The time when the epoch last rose. */
  readonly epochSince: string;
  /** The time when the owner of the address took the account from the person who had registered it. */
  readonly reclaimedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** A hash of the creating request, to recognise a repeat under the same Idempotency-Key. */
  readonly requestHash: string | null;
};

export type User =
  | { readonly status: 'none' }
  /** The registration was never completed, and the address was released. */
  | { readonly status: 'abandoned' }
  /** `invited`: created for a person who has not accepted yet. */
  | ({ readonly status: 'active' | 'invited' | 'disabled' } & UserFacts)
  | ({ readonly status: 'deleted' } & Pick<
      UserFacts,
      'id' | 'email' | 'emailHash' | 'emailVerified' | 'identities' | 'locale' | 'previousEmails'
    >);
export type ExistingUser = Extract<User, UserFacts>;

type AfterRegistered = Exclude<UserEvent, { type: 'UserRegistered' | 'UserAbandoned' }>;

/** Kinds of creation in which an administrator vouched for the account or a workspace was created. */
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
        passwordsBefore: [],
        passwordEpoch: 0,
        secondFactors: NO_SECOND_FACTORS,
        identities: [],
        epoch: 0,
        keepSid: null,
        revokedEpoch: 0,
        epochSince: data.created_at,
        reclaimedAt: null,
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
      return { ...user, ...passwordSet(user, data) };
    case 'PasswordRehashed':
      return { ...user, passwordHash: data.hash };
    case 'EmailVerified':
      return { ...user, emailVerified: true, updatedAt: data.at };
    case 'EmailChangeRequested':
    case 'EmailChangeProven':
    case 'EmailChangeReminded':
    case 'EmailChangeStopped':
    case 'EmailChanged':
    case 'EmailReleased':
      return { ...user, ...changedEmail(user, event) };
    case 'DeletionScheduled':
      return { ...user, deleteAt: data.delete_at };
    case 'DeletionReminded':
      return user;
    case 'DeletionCancelled':
      return { ...user, deleteAt: null };
    case 'ProfileChanged':
    case 'MetadataSet':
      return { ...user, ...personalFields(data), updatedAt: data.at };
    case 'RolesChanged':
      return {
        ...user,
        roles: data.roles,
        vouched: user.vouched || data.vouched === true,
        tokensBefore: data.tokens_before ?? user.tokensBefore,
        updatedAt: data.at,
      };
    case 'UserVouched':
    case 'VouchWithdrawn':
      return { ...user, vouched: type === 'UserVouched', updatedAt: data.at };
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
    case 'AccountReclaimed':
      return {
        ...user,
        ...risen(data),
        passwordHash: null,
        passwordsBefore: [],
        keepSid: null,
        tokensBefore: data.tokens_before,
        emailChange: null,
        deleteAt: null,
        reclaimedAt: data.at,
        updatedAt: data.at,
      };
    case 'IdentityLinked':
    case 'IdentityUnlinked': {
      const identities = changedIdentities(user.identities, event);
      return { ...user, identities, updatedAt: data.at };
    }
    case 'UserDeleted':
      return deleted(user);
  }
}

function deleted(user: ExistingUser): User {
  const { id, email, emailHash, emailVerified, identities, locale = null } = user;
  const { previousEmails = [] } = user;
  const left = { id, email, emailHash, emailVerified, identities, locale, previousEmails };
  return { status: 'deleted', ...left };
}

type PasswordSet = Extract<UserEvent, { type: 'PasswordSet' }>['data'];

const passwordSet = (user: ExistingUser, data: PasswordSet) => ({
  passwordHash: data.hash,
  passwordsBefore: passwordsBefore(user),
  passwordEpoch: data.epoch,
  epoch: data.epoch,
  keepSid: data.keep_sid,
  revokedEpoch: data.by === 'user' ? user.revokedEpoch : data.epoch,
  epochSince: data.at,
  // A reset uses a mailed token, which proves the address.
  emailVerified: user.emailVerified || data.by === 'reset',
  updatedAt: data.at,
});

const PERSONAL_FIELDS = {
  ...NAMES_IN_STATE,
  public_metadata: 'publicMetadata',
  private_metadata: 'privateMetadata',
} as const;
type PersonalField = keyof typeof PERSONAL_FIELDS;

/** The fields that an event names. The other fields do not change. */
function personalFields(
  data: {
    readonly [field in PersonalField]?: Sealed | null;
  },
): Partial<Pick<UserFacts, (typeof PERSONAL_FIELDS)[PersonalField]>> {
  const fields: { [field: string]: Sealed | null } = {};
  for (const [field, name] of Object.entries(PERSONAL_FIELDS)) {
    const value = data[field as PersonalField];
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/** The most previous passwords that a tenant's policy may compare, besides the current one. */
const PASSWORDS_BEFORE_MAX = 9;

const passwordsBefore = ({ passwordHash, passwordsBefore: before }: ExistingUser) =>
  passwordHash === null ? before : [passwordHash, ...before].slice(0, PASSWORDS_BEFORE_MAX);

const risen = ({ epoch, at }: { readonly epoch: number; readonly at: string }) => ({
  epoch,
  revokedEpoch: epoch,
  epochSince: at,
});

/**
 * Sign-ins without a session end with the account's epoch. Tokens have whole seconds, so tokens of the second in which
 * the epoch rose count as earlier.
 */
export const signInsBefore = (epochSince: string): number =>
  Math.floor(new Date(epochSince).getTime() / 1_000) + 1;

/** A session that outlives the others. `userEpoch` is the user's epoch when the session began. */
export type KeptSession = { readonly sid: string; readonly userEpoch: number };

/** Keeps a session only if it is live. A session that had ended is not restored. */
export const keptSid = (user: ExistingUser, kept: KeptSession | null): string | null =>
  kept !== null && (kept.userEpoch === user.epoch || kept.sid === user.keepSid) ? kept.sid : null;

export const exists = (user: User): user is ExistingUser =>
  user.status === 'active' || user.status === 'invited' || user.status === 'disabled';

/** The parts of a user's state that credentials depend on. An invited account has only its invitation. */
export const userNow = (user: User): BasisNow['user'] =>
  exists(user)
    ? { active: user.status !== 'disabled', epoch: user.epoch, keepSid: user.keepSid }
    : { active: false, epoch: -1, keepSid: null };

/** Whether a credential that depends only on the account is still valid. */
export const standsFor = (user: User, { user_epoch }: Pick<Basis, 'user_epoch'>): boolean =>
  stands({ user_epoch }, { user: userNow(user) });

/** Prevents an incomplete account from ever being completed, so that its address can be released. */
export function abandon(user: User): Decision<UserEvent, 'user_exists'> {
  if (user.status === 'abandoned') return accept();
  if (user.status !== 'none') return refuse('user_exists');
  return accept({ type: 'UserAbandoned', data: { id: '' } });
}
