/** A person who has proven the address gets no further confirmation mail. */
import { type ExistingUser, exists, type User } from '../user.ts';

export const isVerificationDue = (user: User): user is ExistingUser =>
  exists(user) && !user.emailVerified;
