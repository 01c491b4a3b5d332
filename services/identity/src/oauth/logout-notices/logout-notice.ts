/**
 * A notice to one application that one session of a user, or all of them, ended. It is queued once. Attempts end when
 * the application accepts or refuses it, or when too many have failed.
 */
import { accept, type Decision, type Stream } from '@cardea/event-store';
import type { OutboundError } from '@cardea/http';

/** The pauses after failed attempts. The attempt after the last pause is the last one. */
const RETRY_AFTER_MS = [5_000, 30_000, 120_000] as const;

export type LogoutSubject = {
  readonly client_id: string;
  readonly user_id: string;
  /** The `sid` of the application's tokens. Null means every session of the user. */
  readonly session_id: string | null;
};

/** A notice's subject and the sessions that ended. One end leads to one notice, no matter which events report it. */
export type EndedSessions = {
  readonly subject: LogoutSubject;
  /** Ids of the ended sessions. Empty for a deleted user, whose sessions all ended. */
  readonly sessionIds: readonly string[];
};

/** The values from which the notice's id is derived. */
export const noticeIdParts = ({ subject, sessionIds }: EndedSessions): readonly string[] => [
  ...[subject.client_id, subject.user_id, subject.session_id ?? ''],
  ...sessionIds.toSorted(),
];

/**
 * Why an attempt failed. `refused`: the application answered 400. `status`: it answered with another status. `expired`:
 * the notice waited too long. The others are connection errors.
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
  /** `void` means that the application no longer has an address for notices. */
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

/** The events that end a session are processed at least once, but a notice is queued only once. */
export const queueLogoutNotice = (
  subject: LogoutSubject,
  now: Date,
  notice: LogoutNotice,
): Decision<LogoutNoticeEvent, never> =>
  notice.status === 'none'
    ? accept({ type: 'LogoutNoticeQueued', data: { ...subject, at: now.toISOString() } })
    : accept();

export type NoticeAttempt = {
  /** The number of the attempt, counted from 1. */
  readonly n: number;
  readonly outcome: 'delivered' | 'void' | NoticeFault;
  readonly now: Date;
};

/** If two processes made the same attempt, the result that is recorded first counts. */
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
