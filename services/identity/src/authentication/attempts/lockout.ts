/**
 * The lock-out of one e-mail address, by its failed logins. Ten from one network lock that network out for a while. Too
 * many from all networks together block the account for all networks except those that have succeeded before
 * (`growing-blocks.ts`).
 */
import { accept, type Decision } from '@cardea/event-store';
import {
  type AccountRecord,
  isAccountBlocked,
  missedAt,
  noFailures,
  openedAt,
} from '@cardea/service';
import {
  blockOf,
  clearingsOf,
  type FailureReason,
  type PrefixRecord,
  type SignedInBy,
  type Signin,
  type SigninEvent,
  type SigninFacts,
  secondFactorBlockOf,
} from '../../streams/signin.ts';

/** Failures within this time count together. */
const WINDOW_MS = 15 * 60_000;
export const FAILURES_PER_PREFIX_MAX = 10;
/** How long a network is locked out, by the number of earlier lock-outs. */
const BLOCKS_MS = [1, 5, 15, 60].map((minutes) => minutes * 60_000);
/** A network without failures for this long starts from the first step again. */
const LEVEL_FORGOTTEN_MS = 24 * 3600_000;
const PREFIXES_MAX = 20;
const KNOWN_PREFIXES_MAX = 5;

export type Failure = {
  readonly userId: string | null;
  readonly method: string;
  readonly reason: FailureReason;
  readonly prefix: string;
  readonly now: Date;
};

/** Records a failure. The tenth locks the network out. A block of the account is recorded in the same step. */
export function recordFailure(failure: Failure, signin: Signin): Decision<SigninEvent, never> {
  const { prefix, now } = failure;
  const before = factsOf(signin, now);
  const own = missed(recordOf(before, prefix, now), now);
  const all = missedAt(before.all, 'password', now);
  const after = {
    ...before,
    prefixes: withRecord(before, afterBlock(own)),
    all,
  };
  const until = own.blocked_until ?? all.blocked_until;
  const of = { failure, after };
  return accept(
    failed({ ...of, failures: own.failures, until }),
    ...(hasGrown(before.all, all) ? [blocked({ ...of, record: all })] : []),
  );
}

/** Records a wrong second factor, and the block of the account that it causes. */
export function recordSecondFactorMiss(
  { userId, method, prefix, now }: Omit<Failure, 'reason'> & { readonly userId: string },
  signin: Signin,
): Decision<SigninEvent, never> {
  const before = factsOf(signin, now);
  const old = before.second ?? noFailures(now);
  const second = missedAt(old, 'second_factor', now);
  const after = { ...before, second };
  const failure = { userId, method, prefix, now, reason: 'blocked' } as const;
  return accept(
    { type: 'SecondFactorMissed', data: { user_id: userId, after } },
    ...(hasGrown(old, second) ? [blocked({ failure, after, record: second })] : []),
  );
}

const hasGrown = (before: AccountRecord, after: AccountRecord): boolean =>
  after.blocked_until !== null && after.blocked_until !== before.blocked_until;

type Failing = {
  readonly failure: Failure;
  readonly after: SigninFacts;
};

const failed = (
  of: Failing & { readonly failures: number; readonly until: string | null },
): SigninEvent => ({
  type: 'SignInFailed',
  data: {
    user_id: of.failure.userId,
    method: of.failure.method,
    reason: of.failure.reason,
    failures: of.failures,
    blocked_until: of.until,
    after: of.after,
  },
});

function blocked(of: Failing & { readonly record: AccountRecord }): SigninEvent {
  const { failure, after, record } = of;
  const { userId: user_id, method } = failure;
  const { blocked_until, level = 0 } = record;
  const what = { user_id, method, reason: 'blocked' as const, failures: 0, blocked_until };
  return { type: 'SignInFailed', data: { ...what, account_level: level, after } };
}

/**
 * Records once per block that an attempt was refused because of it. If only the counters refuse and the stream has no
 * block, a block of the network is recorded that lasts as long.
 */
export function recordBlocked(
  failure: Failure & { readonly until: Date },
  signin: Signin,
): Decision<SigninEvent, never> {
  const { prefix, now } = failure;
  const before = factsOf(signin, now);
  const block = blockOf(signin, prefix, now);
  if (block?.reported === true) return accept();
  const until = (block?.until ?? failure.until).toISOString();
  const own = recordOf(before, prefix, now);
  const isOwn = block === undefined || own.blocked_until === until;
  const after = {
    ...before,
    prefixes: isOwn
      ? withRecord(before, { ...own, blocked_until: until, reported: true })
      : before.prefixes,
    all: isOwn ? before.all : { ...before.all, reported: true },
  };
  return accept(failed({ failure: { ...failure, reason: 'blocked' }, after, failures: 0, until }));
}

/**
 * Records a sign-in by a mailed secret, which proves the person and so ends a block of the account. The failures of
 * single networks still count, because the owner of a mailbox may be guessing the password.
 */
export function recordSignIn(
  signedIn: SignedInBy & { readonly now: Date },
  signin: Signin,
): Decision<SigninEvent, never> {
  const { now, ...by } = signedIn;
  const before = factsOf(signin, now);
  const after = isAccountBlocked(before.all, now)
    ? { ...before, all: openedAt(before.all, now), clearings: clearingsOf(signin) + 1 }
    : before;
  return accept({ type: 'SignedIn', data: { ...by, at: now.toISOString(), after } });
}

/** After a success the network is known and has no failures. Records nothing if that is the case already. */
export function clearFailures(
  { userId, prefix }: { readonly userId: string; readonly prefix: string },
  signin: Signin,
): Decision<SigninEvent, never> {
  const before = factsOf(signin, new Date(0));
  const known = before.known_prefixes.includes(prefix);
  const counted = before.prefixes.some((record) => record.prefix === prefix);
  if (known && !counted) return accept();
  const known_prefixes = [...before.known_prefixes.filter((one) => one !== prefix), prefix];
  const after = {
    ...before,
    prefixes: others(before, prefix),
    known_prefixes: known_prefixes.slice(-KNOWN_PREFIXES_MAX),
  };
  return accept({ type: 'SignInCleared', data: { user_id: userId, after } });
}

export type Proven = {
  readonly userId: string;
  /** `mail` proves only the address, so guesses at a second factor stay blocked. */
  readonly by: 'mail' | 'passkey';
  readonly now: Date;
};

/** A proof by mail or passkey ends a block of the account. Records nothing if there is none. */
export function openBlocks(
  { userId, by, now }: Proven,
  signin: Signin,
): Decision<SigninEvent, never> {
  if (signin.status === 'none') return accept();
  const facts = factsOf(signin, now);
  const opensSecond = by === 'passkey' && secondFactorBlockOf(signin, now) !== undefined;
  if (!isAccountBlocked(facts.all, now) && !opensSecond) return accept();
  const after = {
    ...facts,
    all: openedAt(facts.all, now),
    ...(opensSecond && facts.second ? { second: openedAt(facts.second, now) } : {}),
    clearings: clearingsOf(signin) + 1,
  };
  return accept({ type: 'SignInCleared', data: { user_id: userId, after } });
}

/** The facts about an address, without its status. */
function factsOf(signin: Signin, now: Date): SigninFacts {
  if (signin.status === 'none') {
    return { prefixes: [], all: noFailures(now), known_prefixes: [] };
  }
  const { status: _, ...facts } = signin;
  return facts;
}

/**
 * Keeps the most recently used records up to the limit. Records of unknown networks do not displace those of known
 * ones.
 */
function withRecord(facts: SigninFacts, record: PrefixRecord): readonly PrefixRecord[] {
  const records = [...others(facts, record.prefix), record];
  if (records.length <= PREFIXES_MAX) return records;
  const gone = records.find(({ prefix }) => !facts.known_prefixes.includes(prefix));
  return records.filter((each) => each !== gone);
}

const others = (facts: SigninFacts, prefix: string) =>
  facts.prefixes.filter((record) => record.prefix !== prefix);

function recordOf(facts: SigninFacts, prefix: string, now: Date): PrefixRecord {
  const found = facts.prefixes.find((record) => record.prefix === prefix);
  const fresh = { prefix, failures: 0, window_at: now.toISOString(), level: 0 };
  if (found === undefined) return { ...fresh, blocked_until: null, reported: false };
  const quietMs = now.getTime() - new Date(found.window_at).getTime();
  const level = quietMs > LEVEL_FORGOTTEN_MS ? 0 : found.level;
  if (quietMs > WINDOW_MS) return { ...fresh, level, blocked_until: null, reported: false };
  return { ...found, level };
}

function missed(record: PrefixRecord, now: Date): PrefixRecord {
  const failures = record.failures + 1;
  if (failures < FAILURES_PER_PREFIX_MAX) return { ...record, failures, blocked_until: null };
  const blockMs = BLOCKS_MS[Math.min(record.level, BLOCKS_MS.length - 1)] ?? 0;
  return {
    ...record,
    failures,
    level: record.level + 1,
    blocked_until: new Date(now.getTime() + blockMs).toISOString(),
    reported: false,
  };
}

/** After a block, a network's failures are counted from zero. */
const afterBlock = (record: PrefixRecord): PrefixRecord =>
  record.blocked_until === null
    ? record
    : { ...record, failures: 0, window_at: record.blocked_until };
