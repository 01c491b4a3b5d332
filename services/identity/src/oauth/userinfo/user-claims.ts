/** The claims about a user that an application's scopes include. Claims without a value are left out. */
import type { ExistingUser, Opened } from '../../accounts/accounts.module.ts';

export const userClaims = (user: ExistingUser, opened: Opened, scopes: readonly string[]) => ({
  ...(scopes.includes('profile') ? profileClaims(user, opened) : {}),
  ...(scopes.includes('email') && opened.email !== null
    ? { email: opened.email, email_verified: user.emailVerified }
    : {}),
});

const profileClaims = (
  user: ExistingUser,
  { displayName, avatarUrl, locale, preferredUsername }: Opened,
) => ({
  ...(displayName === null ? {} : { name: displayName }),
  ...(avatarUrl === null ? {} : { picture: avatarUrl }),
  ...(locale === null ? {} : { locale }),
  ...(preferredUsername === null ? {} : { preferred_username: preferredUsername }),
  updated_at: Math.floor(new Date(user.updatedAt).getTime() / 1000),
});
