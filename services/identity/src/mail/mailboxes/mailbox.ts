/**
 * The mails that were requested for one address, by purpose. A new request voids the earlier secret of the same
 * requester only, so a stranger cannot void the person's own. The stream exists whether or not the tenant has an
 * account with the address.
 */
import type { MailPurpose } from '@cardea/contracts';
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import type { Language } from '@cardea/mail';

export type PendingMail = {
  readonly generation: number;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly used: boolean;
  /** Whether it was sent, or will not be sent any more. */
  readonly settled: boolean;
  readonly email: Sealed;
  /** The number of wrong codes. Missing if there were none. */
  readonly failures?: number;
  /** The requester: a network, a session, the administrators. Missing if nobody else may have requested it. */
  readonly asker?: string;
  /** Unexpired requests of other requesters, newest first. */
  readonly beside?: readonly PendingMail[];
  /** The invitation that the link accepts. */
  readonly invitation_id?: string;
  /** The interaction to which the link of a sign-in leads back. */
  readonly interaction?: string;
  /** Further details of the mail. */
  readonly details?: Sealed;
  /** The language in which it was requested, if known. */
  readonly language?: Language;
  /** How many notices the mail summarizes. */
  readonly count?: number;
  /** The time when the summary mail is sent. */
  readonly due_at?: string;
};
export type MailboxFacts = {
  readonly errands: { readonly [purpose in MailPurpose]?: PendingMail };
};
export type Mailbox = { readonly status: 'none' } | ({ readonly status: 'seen' } & MailboxFacts);

type Told = {
  readonly purpose: MailPurpose;
  readonly generation: number;
  readonly after: MailboxFacts;
};
export type MailOutcome = 'sent' | 'nobody' | 'superseded' | 'given_up';
export type MailboxEvent =
  | {
      readonly type: 'MailRequested';
      readonly data: Told & {
        readonly user_id: string | null;
        readonly at: string;
        /** The time when the mail is due. If missing, it is due immediately. */
        readonly due_at?: string;
      };
    }
  /** Sending failed. It is tried again at this time. */
  | {
      readonly type: 'MailDeferred';
      readonly concerns?: 'mail_queue';
      readonly data: Told & { readonly attempts: number; readonly retry_at: string };
    }
  | {
      readonly type: 'MailSettled';
      readonly concerns?: 'mail_queue';
      readonly data: Told & { readonly outcome: MailOutcome };
    }
  | { readonly type: 'SecretUsed'; readonly concerns?: never; readonly data: Told }
  | {
      readonly type: 'CodeFailed';
      readonly concerns?: 'relay';
      readonly data: Told & { readonly failures: number };
    };

export const mailboxes: Stream<Mailbox, MailboxEvent> = {
  noun: 'mailbox',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'MailRequested':
      case 'MailDeferred':
      case 'MailSettled':
      case 'SecretUsed':
      case 'CodeFailed':
        return { status: 'seen', ...data.after };
    }
  },
};

/** The lifetime of each purpose's secret, from the request on. */
export const SECRET_TTL_MS: Record<MailPurpose, number> = {
  verify: 24 * 3600_000,
  reset: 60 * 60_000,
  magic_link: 15 * 60_000,
  otp: 10 * 60_000,
  invitation: 7 * 24 * 3600_000,
  notice: 24 * 3600_000,
  new_device: 24 * 3600_000,
  sign_in_blocked: 24 * 3600_000,
  security_notice: 24 * 3600_000,
  email_change: 24 * 3600_000,
  // The secret works until the change takes effect.
  email_change_stop: 8 * 24 * 3600_000,
};

/** Counted from the request for the mail, in which the invitation is created. */
export const INVITATION_TTL_MS = SECRET_TTL_MS.invitation;

export type RequestMail = {
  readonly purpose: MailPurpose;
  readonly email: Sealed;
  /** Null if no account was looked up. */
  readonly userId: string | null;
  /** Set for the purpose `invitation`. */
  readonly invitationId?: string | undefined;
  readonly interaction?: string | undefined;
  readonly details?: Sealed | undefined;
  readonly language?: Language | undefined;
  readonly asker?: string | undefined;
  readonly now: Date;
};

export function requestMail(request: RequestMail, mailbox: Mailbox): Decision<MailboxEvent, never> {
  const { purpose, email, userId, invitationId, interaction, details, language, now } = request;
  const { asker } = request;
  const generation = (pendingMailOf(mailbox, purpose)?.generation ?? 0) + 1;
  const beside = asker === undefined ? [] : ofOthers(asker, now, allPending(mailbox, purpose));
  const pending: PendingMail = {
    generation,
    requested_at: now.toISOString(),
    expires_at: new Date(now.getTime() + SECRET_TTL_MS[purpose]).toISOString(),
    used: false,
    settled: false,
    email,
    ...(invitationId === undefined ? {} : { invitation_id: invitationId }),
    ...(interaction === undefined ? {} : { interaction }),
    ...(details === undefined ? {} : { details }),
    ...(language === undefined ? {} : { language }),
    ...(asker === undefined ? {} : { asker }),
    ...(beside.length === 0 ? {} : { beside }),
  };
  return accept({
    type: 'MailRequested',
    data: {
      purpose,
      generation,
      user_id: userId,
      at: now.toISOString(),
      after: withPendingMail(mailbox, purpose, pending),
    },
  });
}

export type UseSecret = {
  readonly purpose: MailPurpose;
  readonly generation: number;
  readonly now: Date;
};

/** The number of other requesters per purpose whose secrets are kept. */
const BESIDE_MAX = 8;

const ofOthers = (asker: string, now: Date, all: readonly PendingMail[]): readonly PendingMail[] =>
  all
    .filter((mail) => mail.asker !== undefined && mail.asker !== asker)
    .filter(({ used, expires_at }) => !used && now < new Date(expires_at))
    .map(({ beside: _, ...mail }) => mail)
    .slice(0, BESIDE_MAX);

/**
 * A secret works once, while it is the newest of its requester and purpose and has not expired. Only one of two
 * concurrent uses succeeds.
 */
export function useSecret(
  { purpose, generation, now }: UseSecret,
  mailbox: Mailbox,
): Decision<MailboxEvent, 'used' | 'superseded' | 'expired'> {
  const pending = pendingByGeneration(mailbox, purpose, generation);
  if (pending === undefined) return refuse('superseded');
  if (pending.used) return refuse('used');
  if (now >= new Date(pending.expires_at)) return refuse('expired');
  const after = withUsed(mailbox, purpose, generation);
  return accept({ type: 'SecretUsed', data: { purpose, generation, after } });
}

/** The number of wrong codes after which no code is verified any more, not even a right one. */
export const CODE_FAILURES_MAX = 5;
/** How long an expired code is distinguished from a wrong one. */
const EXPIRED_SHOWN_MS = 24 * 3600_000;

/** Codes to sign in with, mailed alone or beside a link. */
export type SignInCode = 'otp' | 'magic_link';

export type TryCode = {
  readonly purpose: SignInCode;
  /** The generation of the code. Null for a code that was never sent to this mailbox. */
  readonly generation: number | null;
  /** The person against whose code a wrong one counts. If missing, it counts against the newest code. */
  readonly asker?: string | undefined;
  readonly now: Date;
};

/** Uses a code like any secret, unless too many wrong ones were tried. */
export function tryCode(
  { purpose, generation, asker, now }: TryCode,
  mailbox: Mailbox,
): Decision<MailboxEvent, 'invalid' | 'expired' | 'too_many_attempts'> {
  const meant = generation === null ? undefined : pendingByGeneration(mailbox, purpose, generation);
  const pending = meant ?? pendingOfAsker(mailbox, purpose, asker);
  if (pending === undefined) return refuse('invalid');
  const { failures = 0, generation: current } = pending;
  if (failures >= CODE_FAILURES_MAX) return refuse('too_many_attempts');
  const sinceMs = now.getTime() - new Date(pending.expires_at).getTime();
  if (generation !== current) {
    if (pending.used || sinceMs >= 0) return refuse('invalid');
    const missed = { ...pending, failures: failures + 1 };
    const after = withPending(mailbox, purpose, missed);
    const data = { purpose, generation: current, failures: missed.failures, after };
    return refuse('invalid', { type: 'CodeFailed', data });
  }
  if (pending.used || sinceMs >= EXPIRED_SHOWN_MS) return refuse('invalid');
  if (sinceMs >= 0) return refuse('expired');
  const after = withUsed(mailbox, purpose, current);
  return accept({ type: 'SecretUsed', data: { purpose, generation: current, after } });
}

type Sending = { readonly purpose: MailPurpose; readonly generation: number };

export function settleMail(
  { purpose, generation }: Sending,
  outcome: MailOutcome,
  mailbox: Mailbox,
): Decision<MailboxEvent, never> {
  const pending = pendingByGeneration(mailbox, purpose, generation);
  const after =
    pending === undefined
      ? factsOf(mailbox)
      : withPending(mailbox, purpose, { ...pending, settled: true });
  return accept({ type: 'MailSettled', data: { purpose, generation, outcome, after } });
}

export function deferMail(
  { purpose, generation }: Sending,
  next: { readonly attempts: number; readonly retryAt: Date },
  mailbox: Mailbox,
): Decision<MailboxEvent, never> {
  const { attempts, retryAt } = next;
  const data = { purpose, generation, attempts, retry_at: retryAt.toISOString() };
  return accept({ type: 'MailDeferred', data: { ...data, after: factsOf(mailbox) } });
}

/** The newest pending mail of any requester. */
export const pendingMailOf = (mailbox: Mailbox, purpose: MailPurpose): PendingMail | undefined =>
  mailbox.status === 'none' ? undefined : mailbox.errands[purpose];

export const allPending = (mailbox: Mailbox, purpose: MailPurpose): readonly PendingMail[] => {
  const newest = pendingMailOf(mailbox, purpose);
  return newest === undefined ? [] : [newest, ...(newest.beside ?? [])];
};

export const pendingByGeneration = (
  mailbox: Mailbox,
  purpose: MailPurpose,
  generation: number,
): PendingMail | undefined =>
  allPending(mailbox, purpose).find((mail) => mail.generation === generation);

/** The last request of this requester. If the state does not name requesters, the newest of all. */
export function pendingOfAsker(
  mailbox: Mailbox,
  purpose: MailPurpose,
  asker: string | undefined,
): PendingMail | undefined {
  const all = allPending(mailbox, purpose);
  if (asker === undefined) return all[0];
  return all.find((mail) => mail.asker === asker || mail.asker === undefined);
}

const factsOf = (mailbox: Mailbox): MailboxFacts => ({
  errands: mailbox.status === 'none' ? {} : mailbox.errands,
});

export const withPendingMail = (
  mailbox: Mailbox,
  purpose: MailPurpose,
  pending: PendingMail,
): MailboxFacts => ({
  errands: { ...factsOf(mailbox).errands, [purpose]: pending },
});

/** Replaces one pending mail by its changed version, at the same position. */
function withPending(mailbox: Mailbox, purpose: MailPurpose, changed: PendingMail): MailboxFacts {
  const newest = pendingMailOf(mailbox, purpose);
  if (newest === undefined || newest.generation === changed.generation) {
    return withPendingMail(mailbox, purpose, changed);
  }
  const beside = (newest.beside ?? []).map((mail) =>
    mail.generation === changed.generation ? changed : mail,
  );
  return withPendingMail(mailbox, purpose, { ...newest, beside });
}

/** The use of one secret invalidates all secrets of its purpose, for every requester. */
function withUsed(mailbox: Mailbox, purpose: MailPurpose, generation: number): MailboxFacts {
  const newest = pendingMailOf(mailbox, purpose);
  if (newest === undefined) return factsOf(mailbox);
  const { beside: others = [], ...rest } = newest;
  const beside = others
    .filter((mail) => mail.generation === generation)
    .map((mail) => ({ ...mail, used: true }));
  const after = { ...rest, used: true, ...(beside.length === 0 ? {} : { beside }) };
  return withPendingMail(mailbox, purpose, after);
}
