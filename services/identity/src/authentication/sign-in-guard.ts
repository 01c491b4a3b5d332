/**
 * The one way to try a password: attempts are counted before the hash and given back when they were
 * right, so that of many at once no more than the limit are evaluated; addresses that nobody has cost
 * and record the same.
 */
import type { Sealer } from '@cardea/crypto';
import type { Command, Streams } from '@cardea/event-store';
import { networkOf } from '@cardea/http';
import { uuidFrom } from '@cardea/runtime';
import type { RateLimit, RateLimits, Taken } from '@cardea/service';
import { exists, type Passwords, type User } from '../accounts/accounts.module.ts';
import { LIMITS } from '../http/limits.ts';
import { userPlace } from '../streams/seals.ts';
import {
  blockOf,
  clearSignIn,
  FAILURES_PER_PREFIX_MAX,
  type Failure,
  type FailureReason,
  failSignIn,
  levelOf,
  meetBlock,
  signins,
} from './signins/signin.ts';

const MINUTE_MS = 60_000;
/** As long as misses count together in the stream. */
const PAIR_LIMIT: RateLimit = {
  name: 'signin_pair',
  points: FAILURES_PER_PREFIX_MAX,
  windowMs: 15 * MINUTE_MS,
  per: 'other',
};

export type Attempt = {
  readonly emailHash: string;
  readonly user: User;
  readonly password: string;
  readonly method: string;
  readonly ip: string;
  /** What stands against the sign-in although the password is right. */
  readonly objection?: FailureReason | undefined;
};

export type AttemptOutcome =
  | { readonly outcome: 'right'; readonly rehashed: string | undefined }
  | { readonly outcome: 'wrong'; readonly position: bigint | undefined }
  /** Right, but there is an objection. */
  | { readonly outcome: 'objection'; readonly position: bigint | undefined }
  | { readonly outcome: 'blocked' | 'limited'; readonly retryAfterSeconds: number };

export type SignInGuard = {
  readonly attempt: (attempt: Attempt, command: Command) => Promise<AttemptOutcome>;
};

type Needs = {
  readonly streams: Streams;
  readonly sealer: Sealer;
  readonly passwords: Passwords;
  readonly limits: RateLimits;
};

export function signInGuard(needs: Needs): SignInGuard {
  const { streams, sealer, limits } = needs;
  return {
    attempt: async (attempt, command) => {
      const { tenantId } = command.metadata;
      const { emailHash } = attempt;
      const byIp = await limits.look(LIMITS.signInFailuresByIp, attempt.ip);
      if (!byIp.allowed) {
        return { outcome: 'limited', retryAfterSeconds: byIp.retryAfterSeconds };
      }
      const prefix = await sealer.indexHash({ tenantId }, 'network', networkOf(attempt.ip));
      const { state } = await streams.load(signins, { tenantId, id: emailHash });
      const block = blockOf(state, prefix, command.now);
      if (block !== undefined) {
        await recordBlock(needs, { ...failureOf(attempt, prefix, command), emailHash }, command);
        const leftMs = block.until.getTime() - command.now.getTime();
        return { outcome: 'blocked', retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) };
      }
      const pairKey = `${tenantId}:${emailHash}:${prefix}:${levelOf(state, prefix)}`;
      const byPair = await limits.take(PAIR_LIMIT, pairKey);
      if (!byPair.allowed) {
        return { outcome: 'blocked', retryAfterSeconds: byPair.retryAfterSeconds };
      }
      const verified = await verify(needs, attempt).catch(async (error: unknown) => {
        await byPair.giveBack(); // turned away unevaluated
        throw error;
      });
      return settle(needs, { attempt, verified, prefix, counted: byPair }, command);
    },
  };
}

type Verified = Awaited<ReturnType<Passwords['verify']>>;

async function verify({ sealer, passwords }: Needs, attempt: Attempt): Promise<Verified> {
  const { user, password } = attempt;
  const sealed = exists(user) ? user.passwordHash : null;
  const phc =
    sealed === null || !exists(user)
      ? null
      : await sealer.open(sealed, userPlace(user.id, 'password_hash'));
  return passwords.verify(phc, password);
}

async function settle(
  { streams, limits }: Needs,
  of: {
    readonly attempt: Attempt;
    readonly verified: Verified;
    readonly prefix: string;
    readonly counted: Extract<Taken, { readonly allowed: true }>;
  },
  command: Command,
): Promise<AttemptOutcome> {
  const { attempt, verified, prefix, counted } = of;
  const { user, objection, emailHash } = attempt;
  const reason = reasonAgainst(user, verified.right, objection);
  if (reason !== undefined || !exists(user)) {
    const failure = {
      ...failureOf(attempt, prefix, command),
      reason: reason ?? 'invalid_credentials',
    };
    const failed = await streams.decideOn(signins, emailHash, command, (signin) =>
      failSignIn(failure, signin),
    );
    await limits.take(LIMITS.signInFailuresByIp, attempt.ip);
    const outcome = verified.right && reason === objection ? 'objection' : 'wrong';
    return { outcome, position: failed.position };
  }
  await counted.giveBack();
  const clear = { userId: user.id, prefix };
  const { state } = await streams.load(signins, {
    tenantId: command.metadata.tenantId,
    id: emailHash,
  });
  if (clearSignIn(clear, state).events.length > 0) {
    await streams.decideOn(signins, emailHash, command, (signin) => clearSignIn(clear, signin));
  }
  return { outcome: 'right', rehashed: verified.rehashed };
}

function reasonAgainst(
  user: User,
  right: boolean,
  objection: FailureReason | undefined,
): FailureReason | undefined {
  if (!right || !exists(user)) return 'invalid_credentials';
  return user.status === 'active' ? objection : 'disabled';
}

async function recordBlock(
  { streams }: Needs,
  { emailHash, ...failure }: Failure & { readonly emailHash: string },
  command: Command,
): Promise<void> {
  const own = { ...command, id: uuidFrom(command.id, 'blocked') };
  await streams.decideOn(signins, emailHash, own, (signin) => meetBlock(failure, signin));
}

const failureOf = (attempt: Attempt, prefix: string, { now }: Command): Failure => ({
  userId: exists(attempt.user) ? attempt.user.id : null,
  method: attempt.method,
  reason: 'blocked',
  prefix,
  now,
});
