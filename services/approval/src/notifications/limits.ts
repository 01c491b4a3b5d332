/** Limits on mail to one user, and the retry times of notifications. */

/** Mails to one user. Requests above the limit wait and are combined in one mail. */
export const MAILS_PER_MINUTE_MAX = 5;
export const MINUTE_MS = 60_000;
/** Pauses after consecutive failures of a notification. The last one repeats while the request is open. */
export const NOTIFY_AGAIN_MS = [5_000, 30_000, 120_000] as const;
/**
 * Notices of older events are not mailed. They are outdated because the mail server or the process was unavailable for
 * that long.
 */
export const NOTICE_TTL_MS = 24 * 60 * MINUTE_MS;
