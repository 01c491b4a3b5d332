/** Reads and validates the users of an import. Each is accepted or refused on its own. */
import type { ForeignHash } from '../../../adapters/foreign-hash-forms.ts';
import { type Profile, readProfile } from '../../../http/profile-fields.ts';
import { type Administrator, mayGiveRoles } from '../../../ranks/ranks.ts';
import type { TenantSettings } from '../../../workspaces/workspaces.module.ts';
import { emailAddress, type ToAscii } from '../../email-address.ts';
import type { ReadHash } from '../../passwords/passwords.ts';
import { areKnownRoles } from '../administrator.ts';
import {
  METADATA_KINDS,
  type Metadata,
  type MetadataKind,
  mergeMetadata,
  metadataFault,
  type NewMetadata,
} from '../metadata.ts';

export type ImportedUser = Profile<string> & {
  readonly email: string;
  readonly password_hash?: ForeignHash['hash'];
  readonly firebase?: ForeignHash['firebase'];
  readonly totp_secret?: string;
  readonly public_metadata?: Metadata;
  readonly private_metadata?: Metadata;
  readonly roles?: readonly string[];
  readonly email_verified?: boolean;
};

export type ImportFault =
  | 'invalid_email'
  | 'invalid_request'
  | 'unknown_role'
  | 'forbidden'
  | 'unsupported_hash'
  | 'hash_too_dear'
  | 'invalid_totp_secret'
  | 'email_already_exists';

export type ReadUser = {
  readonly email: string;
  readonly emailVerified: boolean;
  readonly displayName: string | null;
  readonly avatarUrl: string | null;
  readonly profile: Profile<string>;
  readonly metadata: NewMetadata;
  readonly roles: readonly string[];
  readonly passwordHash: string | null;
  /** The secret of an authenticator app, in base 32. */
  readonly totpSecret: string | null;
};

type Of = {
  readonly by: Administrator;
  readonly settings: Pick<TenantSettings, 'roles'>;
  readonly readHash: (foreign: ForeignHash) => ReadHash;
  /** Returns the secret in its canonical form, or undefined if the text is none. */
  readonly readTotpSecret: (text: string) => string | undefined;
  readonly toAscii: ToAscii;
};

/** Reads users in the order of the request. If two have one address, the first is imported. */
export function readUsers(
  users: readonly ImportedUser[],
  of: Of,
): readonly (ReadUser | ImportFault)[] {
  const seen = new Set<string>();
  return users.map((user) => {
    const read = readUser(user, of);
    if (typeof read === 'string') return read;
    if (seen.has(read.email)) return 'email_already_exists';
    seen.add(read.email);
    return read;
  });
}

function readUser(user: ImportedUser, of: Of): ReadUser | ImportFault {
  const email = emailAddress(user.email, of.toAscii);
  if (email === undefined) return 'invalid_email';
  const read = readProfile(user);
  const metadata = readMetadata(user);
  if (typeof read === 'string' || metadata === undefined) return 'invalid_request';
  const { display_name: name = null, avatar_url: picture = null, ...profile } = read;
  const { roles = ['member'], password_hash: hash, firebase } = user;
  if (!areKnownRoles(of.settings, roles)) return 'unknown_role';
  if (!mayGiveRoles(of.by, roles)) return 'forbidden';
  const readHash = hash === undefined ? { phc: null } : of.readHash({ hash, firebase });
  if (readHash === 'unknown') return 'unsupported_hash';
  if (readHash === 'too_dear') return 'hash_too_dear';
  const { totp_secret: totp = null } = user;
  const totpSecret = totp === null ? null : of.readTotpSecret(totp);
  if (totpSecret === undefined) return 'invalid_totp_secret';
  return {
    email,
    emailVerified: user.email_verified ?? false,
    displayName: name,
    avatarUrl: picture,
    profile: withoutNulls(profile),
    metadata,
    roles,
    passwordHash: readHash.phc,
    totpSecret,
  };
}

/** Returns undefined if an object is too large. Empty objects are left out. */
function readMetadata(user: ImportedUser): NewMetadata | undefined {
  const result: { [kind in MetadataKind]?: Metadata } = {};
  for (const kind of METADATA_KINDS) {
    const given = user[kind];
    if (given === undefined) continue;
    if (metadataFault(given) !== undefined) return undefined;
    const metadata = mergeMetadata({}, given);
    if (Object.keys(metadata).length > 0) result[kind] = metadata;
  }
  return result;
}

/** A new user has no fields that null could clear. */
const withoutNulls = (profile: Profile<string>): Profile<string> =>
  Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== null));
