/** The storage location of each encrypted field of identity, and the key that encrypts it. */
import type { FieldLocation } from '@cardea/crypto';
import type { ProfileField } from '../http/profile-fields.ts';

export const userSubject = (userId: string): string => `user:${userId}`;

/** Fields of the account itself. */
export const userField = (userId: string, field: UserField): FieldLocation => ({
  subject: userSubject(userId),
  streamId: `user-${userId}`,
  field,
});
export type UserField =
  | ProfileField
  | 'email'
  | 'public_metadata'
  | 'private_metadata'
  | 'password_hash'
  | 'identity';

/** The address of an invitation, under the key of the invited person. */
export const invitationField = (userId: string, invitationId: string): FieldLocation => ({
  subject: userSubject(userId),
  streamId: `invitation-${invitationId}`,
  field: 'email',
});

/** Fields of a session, under the user's key. */
export const sessionField = (userId: string, sid: string, field: SessionField): FieldLocation => ({
  subject: userSubject(userId),
  streamId: `session-${sid}`,
  field,
});
export type SessionField = 'ip' | 'user_agent' | 'user' | 'refreshed_by';

/** Fields of a second factor, under the user's key. */
export const factorField = (
  userId: string,
  factorId: string,
  field: FactorField,
): FieldLocation => ({
  subject: userSubject(userId),
  streamId: `factor-${factorId}`,
  field,
});
export type FactorField = 'secret' | 'name' | 'credential';

/** The user of a sign-in without a session, under the user's key. */
export const signInField = (userId: string, emailHash: string): FieldLocation => ({
  subject: userSubject(userId),
  streamId: `signin-${emailHash}`,
  field: 'user',
});

/** The address of a mailbox, which may belong to no user. Its key is kept for a few days only. */
export const mailboxField = (tenantId: string, mailbox: string, at: Date): FieldLocation => ({
  subject: `transient:${tenantId}:${at.toISOString().slice(0, 10)}`,
  streamId: `mailbox-${mailbox}`,
  field: 'email',
});

/** The details of a mail, under the same key as the mailbox's address. */
export const mailDetailsField = (tenantId: string, mailbox: string, at: Date): FieldLocation => ({
  ...mailboxField(tenantId, mailbox, at),
  field: 'details',
});

/** The private part of a signing key, encrypted again under a key that can be deleted. */
export const keyField = (kid: string): FieldLocation => ({
  subject: `jwk:${kid}`,
  streamId: 'keyring-main',
  field: 'private',
});

/** A secret among a tenant's settings. */
export const tenantField = (tenantId: string, field: string): FieldLocation => ({
  subject: `tenant:${tenantId}`,
  streamId: `tenant-${tenantId}`,
  field,
});
