/**
 * Counts failures at one account over all networks. Each block is longer than the one before, and comes after fewer
 * failures. The length is forgotten after a week without failures.
 */
export type AccountRecord = {
  readonly failures: number;
  readonly window_at: string;
  readonly blocked_until: string | null;
  /** Whether a refusal because of this block was recorded. That happens once per block. */
  readonly reported: boolean;
  /** How often the account has been blocked. Missing if it never was. */
  readonly level?: number;
};

/**
 * The kinds of secrets that can be guessed. Each has a separate count: a second factor is checked only after a first,
 * and a binding code only for a signed-in user.
 */
export type Guessed = 'password' | 'second_factor' | 'binding_code';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Failures within this time count together. */
export const ACCOUNT_WINDOW_MS = DAY_MS;
/** How long an account is blocked, by the number of earlier blocks. */
export const ACCOUNT_BLOCKS_MS = [15 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, DAY_MS];
const LEVEL_FORGOTTEN_MS = 7 * DAY_MS;
/** The number of failures before the first block, and before each later one. */
const FAILURES_MAX: {
  readonly [what in Guessed]: { readonly first: number; readonly later: number };
} = {
  password: { first: 100, later: 20 },
  second_factor: { first: 20, later: 5 },
  binding_code: { first: 20, later: 5 },
};

export const accountFailuresMax = (what: Guessed, level: number): number =>
  level === 0 ? FAILURES_MAX[what].first : FAILURES_MAX[what].later;

export const noFailures = (now: Date): AccountRecord => ({
  failures: 0,
  window_at: now.toISOString(),
  blocked_until: null,
  reported: false,
});

export function accountLevel({ level = 0, window_at }: AccountRecord, now: Date): number {
  return now.getTime() - new Date(window_at).getTime() > LEVEL_FORGOTTEN_MS ? 0 : level;
}

export const isAccountBlocked = ({ blocked_until: until }: AccountRecord, now: Date): boolean =>
  until !== null && now < new Date(until);

/** Counts one more failure. A block that begins with it is recorded with it, so `reported` is true. */
export function missedAt(record: AccountRecord, what: Guessed, now: Date): AccountRecord {
  const level = accountLevel(record, now);
  if (isAccountBlocked(record, now)) return record;
  const isOver = now.getTime() - new Date(record.window_at).getTime() > ACCOUNT_WINDOW_MS;
  const failures = (isOver ? 0 : record.failures) + 1;
  const window_at = isOver ? now.toISOString() : record.window_at;
  const kept = { window_at, level, blocked_until: null, reported: false };
  if (failures < accountFailuresMax(what, level)) return { ...kept, failures };
  const blockMs = ACCOUNT_BLOCKS_MS[Math.min(level, ACCOUNT_BLOCKS_MS.length - 1)] ?? DAY_MS;
  const until = new Date(now.getTime() + blockMs).toISOString();
  // Counting starts again after the block.
  return { failures: 0, window_at: until, level: level + 1, blocked_until: until, reported: true };
}

/**
 * Ends a block, because the person has proven who they are or an administrator unlocks them. The block length stays.
 */
export const openedAt = (record: AccountRecord, now: Date): AccountRecord => ({
  ...noFailures(now),
  level: accountLevel(record, now),
});
