/**
 * The lock-out of one e-mail address, whether or not anybody has it: its failed logins are counted.
 * Ten from one network lock that network out for a while; a hundred in an hour lock out all but the
 * networks that have succeeded before. Its stream also holds the logins that leave no session.
 */

import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';

/** Misses within this time count together. */
const WINDOW_MS = 15 * 60_000;
export const FAILURES_PER_PREFIX_MAX = 10;
/** How long a network is closed out, by how often it was. */
const BLOCKS_MS = [1, 5, 15, 60].map((minutes) => minutes * 60_000);
/** A network that stays quiet this long starts from the first step again. */
const LEVEL_FORGOTTEN_MS = 24 * 3600_000;
const ALL_WINDOW_MS = 3600_000;
const ALL_FAILURES_MAX = 100;
const ALL_BLOCK_MS = 15 * 60_000;
const PREFIXES_MAX = 20;
const KNOWN_PREFIXES_MAX = 5;

type PrefixRecord = {
  readonly prefix: string;
  readonly failures: number;
  readonly window_at: string;
  readonly level: number;
  readonly blocked_until: string | null;
  /** The block was recorded as met; that is recorded once. */
  readonly reported: boolean;
};
export type SigninFacts = {
  /** Least recent first. */
  readonly prefixes: readonly PrefixRecord[];
  readonly all: {
    readonly failures: number;
    readonly window_at: string;
    readonly blocked_until: string | null;
    readonly reported: boolean;
  };
  readonly known_prefixes: readonly string[];
};
export type Signin = { readonly status: 'none' } | ({ readonly status: 'seen' } & SigninFacts);

export type SigninEvent =
  | {
      readonly type: 'SignInFailed';
      readonly data: {
        readonly user_id: string | null;
        readonly method: string;
        readonly reason: FailureReason;
        readonly failures: number;
        readonly blocked_until: string | null;
        readonly after: SigninFacts;
      };
    }
  /** A sign-in that leaves no session. */
  | {
      readonly type: 'SignedIn';
      readonly data: SignedInBy & { readonly at: string; readonly after: SigninFacts };
    }
  | {
      readonly type: 'SignInCleared';
      readonly data: { readonly user_id: string; readonly after: SigninFacts };
    };

export type FailureReason =
  | 'invalid_credentials'
  | 'disabled'
  | 'email_not_verified'
  | 'password_login_disabled'
  | 'blocked';

export type SignedInBy = {
  readonly user_id: string;
  readonly method: string;
  readonly amr: readonly string[];
  /** The user as of then, as JSON; what is told to others needs nothing else. */
  readonly user: Sealed;
};

export const signins: Stream<Signin, SigninEvent> = {
  noun: 'signin',
  initial: { status: 'none' },
  stateCarrying: true,
  evolve: (_before, { type, data }) => {
    switch (type) {
      case 'SignInFailed':
      case 'SignedIn':
      case 'SignInCleared':
        return { status: 'seen', ...data.after };
    }
  },
};

export type Block = { readonly until: Date; readonly reported: boolean };

/** The block that stands against this network now, if any. */
export function blockOf(signin: Signin, prefix: string, now: Date): Block | undefined {
  if (signin.status === 'none') return undefined;
  const own = signin.prefixes.find((record) => record.prefix === prefix);
  if (own?.blocked_until != null && now < new Date(own.blocked_until)) {
    return { until: new Date(own.blocked_until), reported: own.reported };
  }
  const { blocked_until: until, reported } = signin.all;
  if (until === null || now >= new Date(until)) return undefined;
  return signin.known_prefixes.includes(prefix) ? undefined : { until: new Date(until), reported };
}

/** How often this network has been closed out; names the counter that counts before the hash. */
export const levelOf = (signin: Signin, prefix: string): number =>
  signin.status === 'none'
    ? 0
    : (signin.prefixes.find((record) => record.prefix === prefix)?.level ?? 0);

export type Failure = {
  readonly userId: string | null;
  readonly method: string;
  readonly reason: FailureReason;
  readonly prefix: string;
  readonly now: Date;
};

/** Records a miss; the tenth closes the network out. */
export function recordFailure(failure: Failure, signin: Signin): Decision<SigninEvent, never> {
  const { userId, method, reason, prefix, now } = failure;
  const before = signin.status === 'none' ? nothingSeen(now) : signin;
  const own = missed(recordOf(before, prefix, now), now);
  const all = missedInAll(before.all, now);
  return accept({
    type: 'SignInFailed',
    data: {
      user_id: userId,
      method,
      reason,
      failures: own.failures,
      blocked_until: own.blocked_until ?? all.blocked_until,
      after: {
        prefixes: [...others(before, prefix), afterBlock(own)].slice(-PREFIXES_MAX),
        all: all.blocked_until === null ? all : { ...all, failures: 0 },
        known_prefixes: before.known_prefixes,
      },
    },
  });
}

/** Records, once per block, that somebody ran into it. */
export function recordBlocked(failure: Failure, signin: Signin): Decision<SigninEvent, 'no_block'> {
  const { userId, method, prefix, now } = failure;
  const block = blockOf(signin, prefix, now);
  if (signin.status === 'none' || block === undefined) return refuse('no_block');
  if (block.reported) return accept();
  return accept({
    type: 'SignInFailed',
    data: {
      user_id: userId,
      method,
      reason: 'blocked',
      failures: 0,
      blocked_until: block.until.toISOString(),
      after: {
        prefixes: signin.prefixes.map((record) =>
          record.prefix === prefix ? { ...record, reported: true } : record,
        ),
        all: { ...signin.all, reported: true },
        known_prefixes: signin.known_prefixes,
      },
    },
  });
}

/** Changes nothing of what was counted: who has a mailbox may still be guessing at a password. */
export function recordSignIn(
  signedIn: SignedInBy & { readonly now: Date },
  signin: Signin,
): Decision<SigninEvent, never> {
  const { now, ...by } = signedIn;
  const after = signin.status === 'none' ? nothingSeen(now) : factsOf(signin);
  return accept({ type: 'SignedIn', data: { ...by, at: now.toISOString(), after } });
}

/** After a success: the network is known and starts from nothing. Says nothing when that is so already. */
export function clearFailures(
  { userId, prefix }: { readonly userId: string; readonly prefix: string },
  signin: Signin,
): Decision<SigninEvent, never> {
  const before = signin.status === 'none' ? nothingSeen(new Date(0)) : signin;
  const known = before.known_prefixes.includes(prefix);
  const counted = before.prefixes.some((record) => record.prefix === prefix);
  if (known && !counted) return accept();
  return accept({
    type: 'SignInCleared',
    data: {
      user_id: userId,
      after: {
        prefixes: others(before, prefix),
        all: before.all,
        known_prefixes: [...before.known_prefixes.filter((one) => one !== prefix), prefix].slice(
          -KNOWN_PREFIXES_MAX,
        ),
      },
    },
  });
}

const factsOf = ({ prefixes, all, known_prefixes }: SigninFacts): SigninFacts => ({
  prefixes,
  all,
  known_prefixes,
});

const nothingSeen = (now: Date): SigninFacts => ({
  prefixes: [],
  all: { failures: 0, window_at: now.toISOString(), blocked_until: null, reported: false },
  known_prefixes: [],
});

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

/** Once closed out, counting starts again after the block. */
const afterBlock = (record: PrefixRecord): PrefixRecord =>
  record.blocked_until === null
    ? record
    : { ...record, failures: 0, window_at: record.blocked_until };

function missedInAll(all: SigninFacts['all'], now: Date): SigninFacts['all'] {
  const over = now.getTime() - new Date(all.window_at).getTime() > ALL_WINDOW_MS;
  const failures = (over ? 0 : all.failures) + 1;
  const window_at = over ? now.toISOString() : all.window_at;
  const isBlocked = all.blocked_until !== null && now < new Date(all.blocked_until);
  if (isBlocked) return { ...all, failures, window_at };
  if (failures < ALL_FAILURES_MAX)
    return { failures, window_at, blocked_until: null, reported: false };
  const until = new Date(now.getTime() + ALL_BLOCK_MS).toISOString();
  return { failures, window_at, blocked_until: until, reported: false };
}
