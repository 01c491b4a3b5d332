/** How many channels there are, and how messages to them are paced (`docs/design/approval.md`, Channels). */

export const CHANNELS_PER_TENANT_MAX = 20;
/** One person's own, for what is asked of them alone. */
export const CHANNELS_PER_PERSON_MAX = 3;
export const CHANNEL_NAME_CHARS_MAX = 64;
export const CHANNEL_TOKEN_CHARS_MAX = 256;

/** Between two messages to one channel; chat programs take about one a second. */
export const CHANNEL_SPACING_MS = 1_000;
/** Requests that may wait for one channel and be told one by one; more are told in one message. */
export const WAITING_SINGLY_MAX = 20;
/** Messages on their way at once. */
export const SENDS_PER_TENANT_MAX = 4;
export const SENDS_MAX = 128;
/** The whole of one attempt: names, connection, answer. */
export const SEND_WAIT_MS = 10_000;
/** Pauses of a channel after each failure in a row; the last one repeats. */
export const CHANNEL_AGAIN_MS = [5_000, 30_000, 120_000] as const;
/** The longest pause that a receiver can ask for by `Retry-After`. */
export const RETRY_AFTER_MAX_MS = 15 * 60_000;
/** How often the queue is looked at without a wake-up: another process may have filled it. */
export const QUEUE_POLL_MS = 1_000;
