/**
 * Notices of changes to an account's security. Each is a separate mail, and a newer one does not replace it. If there
 * are many within a minute, one mail at the end of that minute summarizes the later ones.
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision } from '@cardea/event-store';
import type { Language } from '@cardea/mail';
import {
  allPending,
  type Mailbox,
  type MailboxEvent,
  type PendingMail,
  pendingMailOf,
  SECRET_TTL_MS,
  withPendingMail,
} from './mailbox.ts';

/** Mails per address and minute. This also bounds how many wait while the mail server is unavailable. */
export const NOTICES_PER_MINUTE_MAX = 5;
export const NOTICES_MINUTE_MS = 60_000;
const PURPOSE = 'security_notice';

export type RequestNotice = {
  readonly email: Sealed;
  readonly userId: string;
  readonly details: Sealed | undefined;
  readonly language: Language | undefined;
  readonly now: Date;
};

export function requestNotice(
  request: RequestNotice,
  mailbox: Mailbox,
): Decision<MailboxEvent, never> {
  const { now, userId } = request;
  const all = allPending(mailbox, PURPOSE).map(({ beside: _, ...mail }) => mail);
  const single = all.filter((mail) => mail.count === undefined && isKept(mail, now));
  const counting = all.find((mail) => mail.count !== undefined && !mail.settled);
  const isCounted = single.length >= NOTICES_PER_MINUTE_MAX;
  const made = isCounted ? counted(request, mailbox, counting) : noticeOf(request, mailbox);
  const others = [...single, ...(counting === undefined || isCounted ? [] : [counting])];
  const pending = others.length === 0 ? made : { ...made, beside: others };
  return accept({
    type: 'MailRequested',
    data: {
      purpose: PURPOSE,
      generation: made.generation,
      user_id: userId,
      at: now.toISOString(),
      ...(made.due_at === undefined ? {} : { due_at: made.due_at }),
      after: withPendingMail(mailbox, PURPOSE, pending),
    },
  });
}

const isKept = ({ settled, requested_at }: PendingMail, now: Date): boolean =>
  !settled || now.getTime() - new Date(requested_at).getTime() < NOTICES_MINUTE_MS;

function noticeOf({ email, details, language, now }: RequestNotice, mailbox: Mailbox): PendingMail {
  return {
    generation: (pendingMailOf(mailbox, PURPOSE)?.generation ?? 0) + 1,
    requested_at: now.toISOString(),
    expires_at: new Date(now.getTime() + SECRET_TTL_MS[PURPOSE]).toISOString(),
    used: false,
    settled: false,
    email,
    ...(details === undefined ? {} : { details }),
    ...(language === undefined ? {} : { language }),
  };
}

/** Replaces the summary that was pending until now. */
function counted(
  request: RequestNotice,
  mailbox: Mailbox,
  before: PendingMail | undefined,
): PendingMail {
  const { details: _, ...mail } = noticeOf(request, mailbox);
  const end = new Date(request.now.getTime() + NOTICES_MINUTE_MS).toISOString();
  return { ...mail, count: (before?.count ?? 0) + 1, due_at: before?.due_at ?? end };
}
