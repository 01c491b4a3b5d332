/**
 * Decides which mail a user who cannot sign in gets from an administrator: a link to a new password, or the invitation
 * again.
 */
import type { Administrator } from '../../../ranks/ranks.ts';
import { outranks } from '../administrator.ts';
import { type ExistingUser, exists, type User } from '../user.ts';

export type MailReset =
  | { readonly mail: 'reset' | 'invitation'; readonly to: ExistingUser }
  | { readonly refused: 'not_found' | 'forbidden' | 'user_inactive' };

export function mailReset(by: Administrator, user: User): MailReset {
  if (!exists(user)) return { refused: 'not_found' };
  if (outranks(user, by)) return { refused: 'forbidden' };
  if (user.status === 'disabled') return { refused: 'user_inactive' };
  return { mail: user.status === 'invited' ? 'invitation' : 'reset', to: user };
}
