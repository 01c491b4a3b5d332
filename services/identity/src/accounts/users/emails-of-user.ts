/**
 * The addresses of an account. A previous address stays reserved for the account for some days, so that nobody else
 * receives its mail.
 */
import type { Sealed } from '@cardea/crypto';

/** The account's present address, and its future one. */
export type EmailSide = 'new' | 'present';

export type EmailEvent =
  /** The person requests another address. A newer request replaces an older one. */
  | {
      readonly type: 'EmailChangeRequested';
      readonly concerns?: 'relay' | 'account_deadlines' | 'follow_email_changes';
      readonly data: {
        readonly id: string;
        readonly change_id: string;
        readonly email: Sealed;
        readonly email_hash: string;
        /** The proofs by mail that are still missing. */
        readonly missing: readonly EmailSide[];
        /** The account's epoch and the session of the request. If either ends, so does the request. */
        readonly epoch: number;
        readonly keep_sid: string | null;
        readonly expires_at: string;
        /** Set if the present address is out of reach. The change takes effect at that time. */
        readonly effective_at: string | null;
        readonly at: string;
      };
    }
  | {
      readonly type: 'EmailChangeProven';
      readonly concerns?: 'relay' | 'follow_email_changes';
      readonly data: {
        readonly id: string;
        readonly change_id: string;
        readonly side: EmailSide;
        readonly at: string;
      };
    }
  /** The present address was notified that the change is near. */
  | {
      readonly type: 'EmailChangeReminded';
      readonly concerns?: 'account_deadlines' | 'follow_email_changes';
      readonly data: { readonly id: string; readonly change_id: string; readonly at: string };
    }
  | {
      readonly type: 'EmailChangeStopped';
      readonly concerns?: 'relay' | 'account_deadlines' | 'notify_security_changes';
      readonly data: {
        readonly id: string;
        readonly change_id: string;
        /** `link`: a person with access to the present address's mail. `system`: the change could not be performed. */
        readonly by: 'user' | 'link' | 'admin' | 'system';
        readonly at: string;
      };
    }
  | {
      readonly type: 'EmailChanged';
      readonly concerns?:
        | 'relay'
        | 'account_deadlines'
        | 'end_orphaned_agent_sessions'
        | 'follow_email_changes'
        | 'notify_security_changes'
        | 'queue_logout_notices'
        | 'revocation_rules'
        | 'revocations'
        | 'users';
      readonly data: {
        readonly id: string;
        readonly email: Sealed;
        readonly email_hash: string;
        /** The previous address, which stays reserved for the account for some days. */
        readonly previous_hash: string;
        readonly email_verified: boolean;
        readonly by: 'user' | 'admin';
        readonly epoch: number;
        readonly keep_sid: string | null;
        readonly at: string;
      };
    }
  /** A previous address is no longer reserved for the account. */
  | {
      readonly type: 'EmailReleased';
      readonly concerns?: 'account_deadlines' | 'follow_email_changes';
      readonly data: {
        readonly id: string;
        readonly email: Sealed;
        readonly email_hash: string;
        readonly at: string;
      };
    };

const DAY_MS = 24 * 3600_000;
export const PREVIOUS_EMAIL_MS = 7 * DAY_MS;
/** If there are more, the oldest is released. */
export const PREVIOUS_EMAILS_MAX = 20;

export type PreviousEmail = {
  readonly email: Sealed;
  readonly hash: string;
  readonly verified: boolean;
  /** The time at which it stopped being the address. */
  readonly at: string;
};

export type EmailChange = {
  readonly id: string;
  readonly email: Sealed;
  readonly hash: string;
  readonly missing: readonly EmailSide[];
  readonly epoch: number;
  readonly sid: string | null;
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly effectiveAt: string | null;
};

type Address = {
  readonly email: Sealed;
  readonly emailHash: string;
  readonly emailVerified: boolean;
  readonly previousEmails?: readonly PreviousEmail[];
};

/** Whether this address is the account's address or is still reserved for it. */
export const ownsEmail = (
  { emailHash, previousEmails = [] }: Pick<Address, 'emailHash' | 'previousEmails'>,
  hash: string,
): boolean => emailHash === hash || previousEmails.some((previous) => previous.hash === hash);

type EmailState = Address & {
  readonly emailChange?: EmailChange | null;
  readonly epoch: number;
  readonly keepSid: string | null;
  readonly revokedEpoch: number;
  readonly epochSince: string;
  readonly updatedAt: string;
};

export function changedEmail(user: EmailState, { type, data }: EmailEvent): Partial<EmailState> {
  const { previousEmails = [], emailChange: pending = null } = user;
  switch (type) {
    case 'EmailChangeRequested':
      return { emailChange: pendingChange(data) };
    case 'EmailChangeProven': {
      if (pending?.id !== data.change_id) return {};
      const missing = pending.missing.filter((side) => side !== data.side);
      return { emailChange: { ...pending, missing } };
    }
    case 'EmailChangeReminded':
      return {};
    case 'EmailChangeStopped':
      return pending?.id === data.change_id ? { emailChange: null } : {};
    case 'EmailChanged':
      return {
        ...moved(user, data),
        emailChange: null,
        epoch: data.epoch,
        keepSid: data.keep_sid,
        revokedEpoch: data.by === 'user' ? user.revokedEpoch : data.epoch,
        epochSince: data.at,
        updatedAt: data.at,
      };
    case 'EmailReleased':
      return { previousEmails: previousEmails.filter(({ hash }) => hash !== data.email_hash) };
  }
}

const pendingChange = (
  data: Extract<EmailEvent, { type: 'EmailChangeRequested' }>['data'],
): EmailChange => ({
  id: data.change_id,
  email: data.email,
  hash: data.email_hash,
  missing: data.missing,
  epoch: data.epoch,
  sid: data.keep_sid,
  requestedAt: data.at,
  expiresAt: data.expires_at,
  effectiveAt: data.effective_at,
});

function moved(
  { email, emailHash, emailVerified, previousEmails = [] }: Address,
  data: Extract<EmailEvent, { type: 'EmailChanged' }>['data'],
): Address {
  const before = { email, hash: emailHash, verified: emailVerified, at: data.at };
  return {
    email: data.email,
    emailHash: data.email_hash,
    emailVerified: data.email_verified,
    previousEmails: [...previousEmails, before].filter(({ hash }) => hash !== data.email_hash),
  };
}

/** The previous addresses that a further change releases to keep the limit. */
export const releasedByChange = (
  { previousEmails = [] }: Pick<Address, 'previousEmails'>,
  of: { readonly id: string; readonly newHash: string; readonly at: string },
): readonly EmailEvent[] =>
  previousEmails
    .filter(({ hash }) => hash !== of.newHash)
    .slice(0, -(PREVIOUS_EMAILS_MAX - 1))
    .map(({ email, hash }) => ({
      type: 'EmailReleased',
      data: { id: of.id, email, email_hash: hash, at: of.at },
    }));

/** Returns null if the address was released before or is the account's address again. */
export const releaseEmail = (
  { id, previousEmails = [] }: Pick<Address, 'previousEmails'> & { readonly id: string },
  { hash, now }: { readonly hash: string; readonly now: Date },
): EmailEvent | null => {
  const previous = previousEmails.find((each) => each.hash === hash);
  if (previous === undefined) return null;
  if (now.getTime() - new Date(previous.at).getTime() < PREVIOUS_EMAIL_MS) return null;
  const data = { id, email: previous.email, email_hash: hash, at: now.toISOString() };
  return { type: 'EmailReleased', data };
};
