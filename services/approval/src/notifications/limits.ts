/** How much mail one user gets, and when a notification is tried again. */

/** Mails to one user; what comes above waits, and is told of in one mail together. */
export const MAILS_PER_MINUTE_MAX = 5;
export const MINUTE_MS = 60_000;
/** Pauses after each failure of a notification; the last one is repeated while the request is open. */
export const NOTIFY_AGAIN_MS = [5_000, 30_000, 120_000] as const;
