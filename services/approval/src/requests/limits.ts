/** Limits on requests from agents to users, and on waiting times. */
import { APPROVAL_TTL_SECONDS_MAX } from '@cardea/contracts';

/** Open requests from one agent to one user, made by the agent or by vault. */
export const OPEN_MAX = 5;
/** New requests from one agent to one user, made by the agent or by vault. */
export const AGENT_PER_MINUTE_MAX = 20;
/** New requests per caller who is a user or an admin. */
export const CALLER_PER_MINUTE_MAX = 300;
export const MINUTE_MS = 60_000;

export const TTL_SECONDS_DEFAULT = 300;
/** The default time for which a request for access waits for its decision: one day. */
export const ACCESS_TTL_SECONDS_DEFAULT = 86_400;
export const TTL_SECONDS_MAX = APPROVAL_TTL_SECONDS_MAX;

/** Limits on the details of an action: bytes of their canonical JSON, levels, and members of all objects and arrays. */
export const DETAILS_MAX_BYTES = 16 * 1024;
export const DETAILS_DEPTH_MAX = 8;
export const DETAILS_MEMBERS_MAX = 200;
/** The time for which the approval of an action can be used. */
export const USE_WINDOW_SECONDS = { min: 10, max: APPROVAL_TTL_SECONDS_MAX, usual: 300 } as const;

/** How long after a denial the same digest is not sent to the user again. */
export const COOL_DOWN_MS = 15 * MINUTE_MS;
/** This many denials within the window mute an agent towards a user for `MUTE_MS`. */
export const DENIALS_TO_MUTE = 3;
export const DENIALS_WINDOW_MS = 60 * MINUTE_MS;
export const MUTE_MS = 60 * MINUTE_MS;
export const MUTE_MINUTES_MAX = 1_440;

/** Approvals of one request, including those of approvers who lost the right before the last approval. */
export const GIVEN_MAX = 20;
/** The number of a tenant's sets whose open requests appear in a person's list of pending requests. */
export const OPEN_SETS_MAX = 50;
/** The number of a set's members who receive a mail about a request. */
export const SET_MAILS_MAX = 50;
/** The number of an agent's latest requests to one person or set among which the last approval is looked for. */
export const HISTORY_ROWS_MAX = 1_000;
/** The number of wrong binding codes after which a request is denied. */
export const WRONG_CODES_MAX = 3;
/** Attempts of agents to decide that are recorded on one request. */
export const REFUSED_DECISIONS_MAX = 5;
/** Further attempts of one agent that are recorded. Each is recorded as a separate refusal. */
export const REFUSALS_PER_MINUTE_MAX = 60;

/** The longest time after which a long poll receives a response. */
export const POLL_WAIT_MS = 30_000;
/** Without any notification, a poll reads the stream again at this interval. */
export const POLL_REREAD_MS = 5_000;
/** While the cache is unreachable, every open poll reads the stream again at this interval. */
export const POLL_WITHOUT_CACHE_MS = 1_000;
export const POLLS_PER_PRINCIPAL_MAX = 10;
/**
 * The number of requests that are read at once for open polls, in one statement. It is small because other requests
 * wait while the results are handled.
 */
export const POLLED_AT_ONCE_MAX = 100;
/** The number of open polls per process. */
export const POLLS_MAX = 5_000;
/**
 * A tenant may have one open poll for every three free places, so a single busy tenant gets a quarter of all places.
 */
export const POLLS_PER_FREE_POLL = 1 / 3;

/** The pause between two polls that responses tell agents to keep. */
export const INTERVAL_SECONDS = 5;
/** Calls of the poll route per request: this many at once, and then one every 2.5 s. */
export const PACE = { capacity: 12, refillMs: 2_500 } as const;

/** Pauses before a row that has not arrived over the bus yet is read again. */
export const LATE_ROW_PAUSES_MS = [200, 800] as const;

/** The sweeper's pause after it has found overdue requests, and its longest pause. */
export const SWEEP_AGAIN_MS = 1_000;
export const SWEEP_REST_MS = 10_000;
export const SWEEP_ROWS_MAX = 500;

/** Rows in the response of `GET /pending`. */
export const PENDING_ROWS_MAX = 1_000;

/**
 * Requests that wait for notification in one channel. If there are more, the channel's next message gives this count
 * and says so.
 */
export const WAITING_PER_CHANNEL_MAX = 200;
