/** Limits on channels, and the pace of their messages (`docs/design/approval.md`, Channels). */

export const CHANNELS_PER_TENANT_MAX = 20;
/** Channels of one person for that person's own requests. */
export const CHANNELS_PER_PERSON_MAX = 3;
export const CHANNEL_NAME_CHARS_MAX = 64;
export const CHANNEL_TOKEN_CHARS_MAX = 256;

/** The interval between two messages to one channel. Chat programs accept about one a second. */
export const CHANNEL_SPACING_MS = 1_000;
/** The most waiting requests of a channel that get a message each. More are combined in one message. */
export const WAITING_SINGLY_MAX = 20;
/** Concurrent messages per tenant. */
export const SENDS_PER_TENANT_MAX = 4;
export const SENDS_MAX = 128;
/** The time limit of one attempt: name resolution, connection and response. */
export const SEND_WAIT_MS = 10_000;
/** Pauses of a channel after consecutive failures. The last one repeats. */
export const CHANNEL_AGAIN_MS = [5_000, 30_000, 120_000] as const;
/** The longest pause that a receiver can request with `Retry-After`. */
export const RETRY_AFTER_MAX_MS = 15 * 60_000;
/** How often the queue is read without a wake-up, because another process may have filled it. */
export const QUEUE_POLL_MS = 1_000;
