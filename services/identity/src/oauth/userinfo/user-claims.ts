/** The claims about a user that the scopes of an application let it see. */
import type { ExistingUser, Opened } from '../../accounts/accounts.module.ts';

export const userClaims = (user: ExistingUser, opened: Opened, scopes: readonly string[]) => ({
  ...(scopes.includes('profile')
    ? {
        name: opened.displayName,
        picture: opened.avatarUrl,
        updated_at: Math.floor(new Date(user.updatedAt).getTime() / 1000),
      }
    : {}),
  ...(scopes.includes('email') && opened.email !== null
    ? { email: opened.email, email_verified: user.emailVerified }
    : {}),
});
