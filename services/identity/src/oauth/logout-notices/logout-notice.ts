/**
 * A notice to one application that a session of a user has ended, or all of them: queued once, attempted until the
 * application has taken it, refused it, or failed too often.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';
import type { OutboundError } from '@cardea/http';

/** Pauses after failed attempts; after the last one there is no other attempt. */
const RETRY_AFTER_MS = [5_000, 30_000, 120_000] as const;

export type LogoutSubject = {
  readonly client_id: string;
  readonly user_id: string;
  /** The `sid` of the application's tokens; null: every session of the user. */
  readonly session_id: string | null;
};

/** A notice and what ended: the same end has one notice, whichever events it comes from. */
export type EndedSessions = {
  readonly subject: LogoutSubject;
  /** Ids of sessions; none: all of a user that was deleted. */
  readonly sessionIds: readonly string[];
};

/** The parts that the id of a notice is derived from. */
export const noticeIdParts = ({ subject, sessionIds }: EndedSessions): readonly string[] => [
  ...[subject.client_id, subject.user_id, subject.session_id ?? ''],
  ...sessionIds.toSorted(),
];

/**
 * Why an attempt failed. `refused`: the application answered 400; `status`: it gave another answer; `expired`: the
 * notice waited for too long. The others are faults of the connection.
 */
export type NoticeFault = 'refused' | 'status' | 'expired' | OutboundError;

export type LogoutNoticeEvent =
  | {
      readonly type: 'LogoutNoticeQueued';
      readonly concerns?: 'logout_notices';
      readonly data: LogoutSubject & { readonly at: string };
    }
  | {
      readonly type: 'LogoutNoticeDeferred';
      readonly concerns?: 'logout_notices';
      readonly data: {
        readonly attempts: number;
        readonly cause: NoticeFault;
        readonly retry_at: string;
      };
    }
  /** `void`: the application has no address for notices any more. */
  | {
      readonly type: 'LogoutNoticeSettled';
      readonly concerns?: 'logout_notices';
      readonly data: { readonly attempts: number; readonly outcome: 'delivered' | 'void' };
    }
  | {
      readonly type: 'LogoutNoticeFailed';
      readonly data: LogoutSubject & { readonly attempts: number; readonly cause: NoticeFault };
    };

export type LogoutNotice =
  | { readonly status: 'none' }
  | {
      readonly status: 'pending' | 'settled';
      readonly subject: LogoutSubject;
      readonly queuedAt: string;
      readonly attempts: number;
    };

export const logoutNotices: Stream<LogoutNotice, LogoutNoticeEvent> = {
  noun: 'logoutnotice',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    if (type === 'LogoutNoticeQueued') {
      const { at: queuedAt, ...subject } = data;
      return { status: 'pending', subject, queuedAt, attempts: 0 };
    }
    if (before.status === 'none') return before;
    switch (type) {
      case 'LogoutNoticeDeferred':
        return { ...before, attempts: data.attempts };
      case 'LogoutNoticeSettled':
      case 'LogoutNoticeFailed':
        return { ...before, status: 'settled', attempts: data.attempts };
    }
  },
};

export const logoutNoticeIdOf = (streamId: string): string =>
  streamId.slice(`${logoutNotices.noun}-`.length);

/** Whatever ended the session is handled at least once, and queues its notice once. */
export const queueLogoutNotice = (
  subject: LogoutSubject,
  now: Date,
  notice: LogoutNotice,
): Decision<LogoutNoticeEvent, never> =>
  notice.status === 'none'
    ? accept({ type: 'LogoutNoticeQueued', data: { ...subject, at: now.toISOString() } })
    : accept();

export type NoticeAttempt = {
  /** Counted from 1. */
  readonly n: number;
  readonly outcome: 'delivered' | 'void' | NoticeFault;
  readonly now: Date;
};

/** Where two processes made the same attempt, the first one counts. */
export function recordNoticeAttempt(
  { n, outcome, now }: NoticeAttempt,
  notice: LogoutNotice,
): Decision<LogoutNoticeEvent, never> {
  if (notice.status !== 'pending' || notice.attempts !== n - 1) return accept();
  if (outcome === 'delivered' || outcome === 'void') {
    const attempts = outcome === 'void' ? n - 1 : n;
    return accept({ type: 'LogoutNoticeSettled', data: { attempts, outcome } });
  }
  const pauseMs = RETRY_AFTER_MS[n - 1];
  if (pauseMs === undefined || outcome === 'refused' || outcome === 'expired') {
    const attempts = outcome === 'expired' ? n - 1 : n;
    const data = { ...notice.subject, attempts, cause: outcome };
    return accept({ type: 'LogoutNoticeFailed', data });
  }
  const retry_at = new Date(now.getTime() + pauseMs).toISOString();
  return accept({ type: 'LogoutNoticeDeferred', data: { attempts: n, cause: outcome, retry_at } });
}
