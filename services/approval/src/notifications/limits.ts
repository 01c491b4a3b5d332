/** How much mail one user gets, and when a notification is tried again. */

/** Mails to one user; requests above the limit wait and are reported together in one mail. */
export const MAILS_PER_MINUTE_MAX = 5;
export const MINUTE_MS = 60_000;
/** Pauses after each failure of a notification; the last one repeats while the request is open. */
export const NOTIFY_AGAIN_MS = [5_000, 30_000, 120_000] as const;
/** What was over longer ago is mailed to nobody: the mail server or the process was away for that long. */
export const NOTICE_TTL_MS = 24 * 60 * MINUTE_MS;
