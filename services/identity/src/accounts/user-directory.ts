/** Finds users by id or address, and decrypts and encrypts their fields. */
import type { IdentityEventData } from '@cardea/contracts';
import { CACHED_KEY_MS, type Sealed, type Sealer } from '@cardea/crypto';
import type { Reservation } from '@cardea/event-store';
import { type Clock, loadingCache } from '@cardea/runtime';
import {
  NAMES_IN_STATE,
  PROFILE_FIELDS,
  type Profile,
  type ProfileField,
  type ProfileInState,
  type SealedProfile,
} from '../http/profile-fields.ts';
import { type UserField, userField } from '../streams/encrypted-fields.ts';
import { emailReservations, readOwner } from '../streams/reservation.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import type { Metadata, MetadataKind } from './users/metadata.ts';
import { type ExistingUser, type User, users } from './users/user.ts';

/** The *User* of `docs/design/identity.md` (What it tells other services), without `via`. */
export type UserSnapshot = Omit<IdentityEventData<'user.created'>, 'via'>;

export type Opened = { readonly email: string | null } & ProfileInState<string>;

type WithEmail = Pick<ExistingUser, 'id' | 'email'>;

export type UserDirectory = {
  /** The hash that names the streams of the address: reservation, mailbox and sign-ins. */
  readonly hashOf: (tenantId: string, email: string) => Promise<string>;
  readonly byId: (tenantId: string, id: string) => Promise<User>;
  /** Does the same reads whether or not an account has the address. */
  readonly byHash: (tenantId: string, emailHash: string) => Promise<User>;
  readonly open: (user: ExistingUser) => Promise<Opened>;
  /** Returns empty objects if there is no metadata, or if it was erased. */
  readonly metadataOf: (
    user: ExistingUser,
  ) => Promise<{ readonly [kind in MetadataKind]: Metadata }>;
  /** The PHC string. Null if there is none, or if it was erased. */
  readonly passwordHashOf: (
    user: Pick<ExistingUser, 'id' | 'passwordHash'>,
  ) => Promise<string | null>;
  /** Also returns the address of a deleted user, until the user's key is erased. */
  readonly emailOf: (user: WithEmail) => Promise<string | null>;
  /** A BCP 47 tag. Also returned for a deleted user, until the user's key is erased. */
  readonly localeOf: (user: Pick<ExistingUser, 'id' | 'locale'>) => Promise<string | null>;
  readonly snapshot: (user: ExistingUser) => Promise<UserSnapshot>;
  readonly seal: (of: Owner, field: UserField, value: string) => ReturnType<Sealer['seal']>;
  /** Encrypts only the fields that the profile names. */
  readonly sealProfile: (of: Owner, profile: Profile<string>) => Promise<SealedProfile | 'erased'>;
};

type Owner = { readonly tenantId: string; readonly userId: string };

const EMAILS_MAX = 10_000;
const NOBODY = '00000000-0000-4000-8000-000000000000';

type Dependencies = {
  readonly sealer: Sealer;
  readonly snapshots: SnapshotCache;
  readonly clock: Clock;
};

export function userDirectory({ sealer, snapshots, clock }: Dependencies): UserDirectory {
  const byId: UserDirectory['byId'] = (tenantId, id) => snapshots.load(users, { tenantId, id });
  const openField = async (id: string, field: UserField, sealed: Sealed | null) => {
    return sealed === null ? null : sealer.open(sealed, userField(id, field));
  };
  const open: UserDirectory['open'] = async (user) => {
    const opening = [openField(user.id, 'email', user.email)];
    for (const field of PROFILE_FIELDS) {
      opening.push(openField(user.id, field, user[NAMES_IN_STATE[field]] ?? null));
    }
    const [email = null, ...fields] = await Promise.all(opening);
    const profile: { [name: string]: string | null } = {};
    for (const [at, field] of PROFILE_FIELDS.entries()) {
      profile[NAMES_IN_STATE[field]] = fields[at] ?? null;
    }
    return { email, ...(profile as ProfileInState<string>) };
  };
  const metadataOf: UserDirectory['metadataOf'] = async (user) => {
    const { id, publicMetadata = null, privateMetadata = null } = user;
    const [forUser, hidden] = await Promise.all([
      openField(id, 'public_metadata', publicMetadata),
      openField(id, 'private_metadata', privateMetadata),
    ]);
    return {
      public_metadata: JSON.parse(forUser ?? '{}'),
      private_metadata: JSON.parse(hidden ?? '{}'),
    };
  };
  // Each access token contains the address, and a user is the same object until they change. Decrypted addresses are
  // cached as long as keys are.
  const emails = loadingCache<WithEmail, string | null>(clock, {
    entriesMax: EMAILS_MAX,
    ttlMs: CACHED_KEY_MS,
  });
  const emailOf: UserDirectory['emailOf'] = (user) =>
    emails.get(user, () => openField(user.id, 'email', user.email));
  return {
    hashOf: (tenantId, email) => sealer.indexHash({ tenantId }, 'email', email),
    byId,
    byHash: async (tenantId, emailHash) => {
      const of = { tenantId, id: emailHash };
      const likely = holderOf(snapshots.guess(emailReservations, of));
      const [reservation, user] = await Promise.all([
        snapshots.load(emailReservations, of),
        byId(tenantId, likely),
      ]);
      const holder = holderOf(reservation);
      const found = holder === likely ? user : await byId(tenantId, holder);
      // The account only reserves the address: it is a previous address, or a future one.
      return 'emailHash' in found && found.emailHash !== emailHash ? users.initial : found;
    },
    open,
    metadataOf,
    passwordHashOf: ({ id, passwordHash }) => openField(id, 'password_hash', passwordHash),
    emailOf,
    localeOf: ({ id, locale = null }) => openField(id, 'locale', locale),
    snapshot: async (user) => {
      return snapshotOf(user, await open(user));
    },
    seal: ({ tenantId, userId }, field, value) =>
      sealer.seal(tenantId, userField(userId, field), value),
    sealProfile: async ({ tenantId, userId }, profile) => {
      const result: { [field in ProfileField]?: Sealed | null } = {};
      for (const field of PROFILE_FIELDS) {
        const value = profile[field];
        if (value === undefined) continue;
        const place = userField(userId, field);
        const sealed = value === null ? null : await sealer.seal(tenantId, place, value);
        if (sealed === 'erased') return 'erased';
        result[field] = sealed;
      }
      return result;
    },
  };
}

const holderOf = (address: Reservation): string =>
  address.status === 'held' ? readOwner(address.ownerId).userId : NOBODY;

export const snapshotOf = (
  user: ExistingUser,
  { email, displayName, locale }: Pick<Opened, 'email' | 'displayName' | 'locale'>,
): UserSnapshot => ({
  id: user.id,
  email,
  display_name: displayName,
  email_verified: user.emailVerified,
  roles: [...user.roles],
  status: user.status,
  vouched: user.vouched,
  locale,
  created_at: user.createdAt,
});

/** The user as recorded with a sign-in. Only the id is left for a user who was erased. */
export const readSnapshot = (
  text: string | null,
  { id, at }: { readonly id: string; readonly at: string },
): UserSnapshot =>
  text === null
    ? {
        id,
        email: null,
        display_name: null,
        email_verified: false,
        roles: [],
        status: 'active',
        locale: null,
        created_at: at,
      }
    : JSON.parse(text);
