/** Where each sealed field of identity stands, and under whose key. */
import type { SealedPlace } from '@cardea/crypto';

export const userSubject = (userId: string): string => `user:${userId}`;

/** Fields of the account itself. */
export const userPlace = (userId: string, field: UserField): SealedPlace => ({
  subject: userSubject(userId),
  streamId: `user-${userId}`,
  field,
});
export type UserField = 'email' | 'display_name' | 'avatar_url' | 'password_hash';

/** Fields of a session: they go with the user. */
export const sessionPlace = (userId: string, sid: string, field: SessionField): SealedPlace => ({
  subject: userSubject(userId),
  streamId: `session-${sid}`,
  field,
});
export type SessionField = 'ip' | 'user_agent' | 'user' | 'refreshed_by';

/** Who signed in without a session; it goes with the user. */
export const signInPlace = (userId: string, emailHash: string): SealedPlace => ({
  subject: userSubject(userId),
  streamId: `signin-${emailHash}`,
  field: 'user',
});

/** The address of a mailbox, which may be nobody's: kept for a few days only. */
export const mailboxPlace = (tenantId: string, mailbox: string, at: Date): SealedPlace => ({
  subject: `transient:${tenantId}:${at.toISOString().slice(0, 10)}`,
  streamId: `mailbox-${mailbox}`,
  field: 'email',
});

/** The private half of a signing key, sealed once more under a row that can be deleted. */
export const keyPlace = (kid: string): SealedPlace => ({
  subject: `jwk:${kid}`,
  streamId: 'keyring-main',
  field: 'private',
});
