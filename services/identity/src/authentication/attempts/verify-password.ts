/**
 * Verifies the password of an authentication attempt; no other module does. Each attempt is counted as a failure before
 * the hash and taken off again if it was right. So of many concurrent attempts no more than the limit are evaluated.
 * Addresses without an account cost and record the same.
 */
import { CACHED_KEY_MS, type Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { networkOf } from '@cardea/http';
import { type Clock, loadingCache, uuidFrom } from '@cardea/runtime';
import {
  ACCOUNT_WINDOW_MS,
  accountFailuresMax,
  type Guessed,
  type RateLimit,
  type RateLimits,
} from '@cardea/service';
import type { ExistingUser, Passwords } from '../../accounts/accounts.module.ts';
import { userField } from '../../streams/encrypted-fields.ts';
import {
  accountLevelOf,
  type Block,
  blockOf,
  clearingsOf,
  type FailureReason,
  isTrusted,
  pairCounter,
  type Signin,
  signins,
} from '../../streams/signin.ts';
import {
  type Attempt,
  meet,
  type OpenAttempt,
  type Refusal,
  type Refused,
  refuse,
} from './attempt.ts';
import {
  clearFailures,
  FAILURES_PER_PREFIX_MAX,
  type Failure,
  recordBlocked,
  recordFailure,
} from './lockout.ts';

const MINUTE_MS = 60_000;
/** Failed sign-ins and password changes from one address. */
export const FAILURES_BY_IP: RateLimit = {
  name: 'signin_ip',
  points: 50,
  windowMs: 10 * MINUTE_MS,
  per: 'address',
  counts: 'misses',
};
/** How many addresses without a verifiable password are remembered. */
const WITHOUT_PASSWORD_MAX = 10_000;
/** This limit has the same window as the failures in the stream. */
export const FAILURES_BY_PAIR: RateLimit = {
  name: 'signin_pair',
  points: FAILURES_PER_PREFIX_MAX,
  windowMs: 15 * MINUTE_MS,
  per: 'other',
  counts: 'misses',
};
/** The limit of one account, across all networks that are not trusted. */
export const failuresByAccount = (what: Guessed, level: number): RateLimit => ({
  name: `${what}_account`,
  points: accountFailuresMax(what, level),
  windowMs: ACCOUNT_WINDOW_MS,
  per: 'other',
  counts: 'misses',
});

export type PresentedPassword = {
  readonly emailHash: string;
  readonly password: string;
  /** The method name in recorded failures. */
  readonly method: string;
  readonly ip: string;
  /** The sign-ins of the address if the caller has just read them; otherwise they are read here. */
  readonly signin?: Signin;
};

export type VerifyPassword = (
  attempt: OpenAttempt<'password'>,
  shown: PresentedPassword,
  command: Command,
) => Promise<{
  readonly attempt: Attempt<'password'>;
  /** The hash of the right password with today's parameters. Undefined if the stored hash has them already. */
  readonly rehashed?: string | undefined;
}>;

type Dependencies = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly passwords: Pick<Passwords, 'verify'>;
  readonly limits: RateLimits;
  readonly clock: Clock;
};

export function verifyPassword(needs: Dependencies): VerifyPassword {
  const { streams, sealer, limits } = needs;
  const isRight = passwordCheck(needs);
  const recorder = { streams, recording: new Map() as Recording };
  return async (attempt, shown, command) => {
    const { tenantId } = command.metadata;
    const { emailHash, method, ip } = shown;
    const prefix = await sealer.indexHash({ tenantId }, 'network', networkOf(ip));
    const of = { userId: attempt.user?.id ?? null, method, prefix, now: command.now };
    const state = shown.signin ?? (await streams.load(signins, { tenantId, id: emailHash })).state;
    const block = blockOf(state, prefix, command.now);
    if (block !== undefined) {
      return { attempt: await blocked(recorder, { ...of, ...block, emailHash }, command) };
    }
    const address = `${tenantId}:${emailHash}`;
    const level = accountLevelOf(state, 'all', command.now);
    const taken = await limits.take(
      [FAILURES_BY_IP, ip],
      [FAILURES_BY_PAIR, `${address}:${pairCounter(state, prefix)}`],
      ...(isTrusted(state, prefix)
        ? []
        : ([
            [failuresByAccount('password', level), `${address}:${level}:${clearingsOf(state)}`],
          ] as const)),
    );
    if (!taken.allowed) {
      const { retryAfterSeconds, limit, isUsedUp } = taken;
      if (limit === FAILURES_BY_IP || !isUsedUp)
        return { attempt: refuse('limited', retryAfterSeconds) };
      const until = new Date(command.now.getTime() + retryAfterSeconds * 1000);
      const refusal = { ...of, until, reported: false, emailHash };
      return { attempt: await blocked(recorder, refusal, command) };
    }
    const { right, rehashed } = await isRight(attempt, shown, tenantId).catch(async (error) => {
      await taken.giveBack(); // The attempt was refused without an evaluation.
      throw error;
    });
    const met = meet(attempt, right);
    if (met.status === 'refused') {
      // The stream is written first, so that a waiting attempt finds the block there.
      await fail(needs, { ...of, refused: met, emailHash, state }, command);
      await taken.keep();
      return { attempt: met };
    }
    await taken.giveBack();
    // If a second factor is due, the password alone is not a sign-in yet.
    if (met.secondDue === 'none') {
      await clear(needs, { userId: met.user.id, prefix, emailHash, state }, command);
    }
    return { attempt: met, rehashed };
  };
}

/** Refused attempts under way, by address. One of them is recorded, and the others wait for it. */
type Recording = Map<string, Promise<unknown>>;

/** Refuses without an evaluation. The first refusal of each block is recorded. */
async function blocked(
  { streams, recording }: Pick<Dependencies, 'streams'> & { readonly recording: Recording },
  of: Omit<Failure, 'reason'> & Block & { readonly emailHash: string },
  command: Command,
): Promise<Refused> {
  const { emailHash, reported, ...refused } = of;
  if (!reported) {
    const own = { ...command, id: uuidFrom(command.id, 'blocked') };
    const failure = { ...refused, reason: 'blocked' } as const;
    const key = `${command.metadata.tenantId}:${emailHash}:${of.prefix}`;
    const recorded =
      recording.get(key) ??
      streams
        .decideOn(signins, emailHash, own, (signin) => recordBlocked(failure, signin))
        .finally(() => recording.delete(key));
    recording.set(key, recorded);
    await recorded;
  }
  const leftMs = of.until.getTime() - command.now.getTime();
  return refuse('blocked', Math.max(1, Math.ceil(leftMs / 1000)));
}

export type ClearLockout = (
  of: { readonly user: Pick<ExistingUser, 'id' | 'emailHash'>; readonly ip: string },
  command: Command,
) => Promise<void>;

/** Clears failures after the second factor of a sign-in that began with a password. */
export const clearLockout =
  (needs: Pick<Dependencies, 'sealer' | 'streams'>): ClearLockout =>
  async ({ user: { id: userId, emailHash }, ip }, command) => {
    const { tenantId } = command.metadata;
    const prefix = await needs.sealer.indexHash({ tenantId }, 'network', networkOf(ip));
    const { state } = await needs.streams.load(signins, { tenantId, id: emailHash });
    await clear(needs, { userId, prefix, emailHash, state }, command);
  };

/**
 * Without a usable hash it does the same work and refuses. The key of a user's hash is read once and then cached. For
 * an address without a user, a substitute key is treated in the same way.
 */
function passwordCheck({ sealer, passwords, clock }: Dependencies) {
  const absent = loadingCache<string, string | null>(clock, {
    entriesMax: WITHOUT_PASSWORD_MAX,
    ttlMs: CACHED_KEY_MS,
  });
  return async (
    { user }: OpenAttempt,
    { emailHash, password }: PresentedPassword,
    tenantId: string,
  ) => {
    const sealed = user?.passwordHash ?? null;
    const at = userField(sealed === null ? emailHash : (user?.id ?? ''), 'password_hash');
    const phc =
      sealed === null
        ? await absent.get(emailHash, () => sealer.open({ ...at, box: '' }, at))
        : await sealer.open(sealed, at);
    return passwords.verify(phc, password, tenantId);
  };
}

async function fail(
  { streams }: Pick<Dependencies, 'streams'>,
  of: Omit<Failure, 'reason'> & {
    readonly refused: Refused;
    readonly emailHash: string;
    readonly state: Signin;
  },
  command: Command,
): Promise<void> {
  const { refused, emailHash, state, ...failure } = of;
  const decide = (signin: Signin) =>
    recordFailure({ ...failure, reason: recorded(refused.reason) }, signin);
  // One database round trip, whether or not there were attempts with the address before.
  const rule = state.status === 'none' ? ({ isNew: true, decide } as const) : decide;
  await streams.decideOn(signins, emailHash, command, rule);
}

const recorded = (reason: Refusal): FailureReason => {
  switch (reason) {
    case 'login_disabled':
      return 'password_login_disabled';
    case 'limited':
    case 'erased':
      return 'invalid_credentials';
    default:
      return reason;
  }
};

/** A failure during the verification of the password still counts, until the next success or its expiry. */
async function clear(
  { streams }: Pick<Dependencies, 'streams'>,
  {
    emailHash,
    state,
    ...of
  }: {
    readonly userId: string;
    readonly prefix: string;
    readonly emailHash: string;
    readonly state: Signin;
  },
  command: Command,
): Promise<void> {
  if (clearFailures(of, state).events.length === 0) return;
  await streams.decideOn(signins, emailHash, command, (signin) => clearFailures(of, signin));
}
