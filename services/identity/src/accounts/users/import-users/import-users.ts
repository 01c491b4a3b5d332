/** What of an imported person is taken, and why one is not: each stands or falls alone. */
import type { TenantSettings } from '../../../workspaces/workspaces.module.ts';
import { emailAddress, type ToAscii } from '../../email-address.ts';
import { type Administrator, areKnownRoles, mayGiveRoles } from '../administrator.ts';
import { avatarUrl, displayName } from '../profile-fields.ts';

export type ImportedUser = {
  readonly email: string;
  readonly password_hash?: string;
  readonly totp_secret?: string;
  readonly display_name?: string | null;
  readonly avatar_url?: string | null;
  readonly roles?: readonly string[];
  readonly email_verified?: boolean;
};

export type ImportFault =
  | 'invalid_email'
  | 'invalid_request'
  | 'unknown_role'
  | 'forbidden'
  | 'unsupported_hash'
  | 'invalid_totp_secret'
  | 'email_already_exists';

export type ReadUser = {
  readonly email: string;
  readonly emailVerified: boolean;
  readonly displayName: string | null;
  readonly avatarUrl: string | null;
  readonly roles: readonly string[];
  readonly passwordHash: string | null;
  /** Base 32, of an authenticator app. */
  readonly totpSecret: string | null;
};

type Of = {
  readonly by: Administrator;
  readonly settings: Pick<TenantSettings, 'roles'>;
  readonly isKnownHash: (phc: string) => boolean;
  /** In its one form; undefined if it is none. */
  readonly readTotpSecret: (text: string) => string | undefined;
  readonly toAscii: ToAscii;
};

/** In the order of the request. Of two with one address the first is taken. */
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
  const name = displayName(user.display_name ?? null);
  const picture = avatarUrl(user.avatar_url ?? null);
  if (name === undefined || picture === undefined) return 'invalid_request';
  const { roles = ['member'], password_hash: hash = null } = user;
  if (!areKnownRoles(of.settings, roles)) return 'unknown_role';
  if (!mayGiveRoles(of.by, roles)) return 'forbidden';
  if (hash !== null && !of.isKnownHash(hash)) return 'unsupported_hash';
  const { totp_secret: totp = null } = user;
  const totpSecret = totp === null ? null : of.readTotpSecret(totp);
  if (totpSecret === undefined) return 'invalid_totp_secret';
  return {
    email,
    emailVerified: user.email_verified ?? false,
    displayName: name,
    avatarUrl: picture,
    roles,
    passwordHash: hash,
    totpSecret,
  };
}
