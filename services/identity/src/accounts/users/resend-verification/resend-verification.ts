/** Whoever has shown that the address is theirs is sent no further mail. */
import { type ExistingUser, exists, type User } from '../user.ts';

export const isVerificationDue = (user: User): user is ExistingUser =>
  exists(user) && !user.emailVerified;
