/**
 * Limits how often something may be done. The charge is made before the work, so of many concurrent calls no more than
 * the limit pass. A refused call is not charged. Counts are in the shared cache and in each process, so limits also
 * apply while the cache is unavailable.
 */
import { type Derive, hmac } from '@cardea/crypto';
import { addressLimitKeys } from '@cardea/http';
import { type Cache, type Clock, expiringCache, limitCounters } from '@cardea/runtime';
import { turnQueue } from './turn-queue.ts';

export type RateLimit = {
  readonly name: string;
  readonly points: number;
  readonly windowMs: number;
  /**
   * The key of the count. For `address` it is a network address, from which {@link addressLimitKeys} derives
   * the counted keys. RATE_LIMIT_FACTOR multiplies the limits by address and by tenant.
   */
  readonly per: 'address' | 'tenant' | 'other';
  /**
   * `calls`: every accepted call counts. `misses`: a call is charged while it is being tried, and its charge is
   * returned if it was right. So right calls never use the limit up. While others are being tried, a call waits for its
   * turn instead of being refused.
   */
  readonly counts: 'calls' | 'misses';
};

export type Charge = readonly [limit: RateLimit, key: string, amount?: number];

export type Allowed = {
  readonly allowed: true;
  /** Call it if the call succeeded or was not made. The charge is then returned. */
  readonly giveBack: () => Promise<void>;
  /** Call it if the call failed. A limit on misses counts it until the end of its window. */
  readonly keep: () => Promise<void>;
};
export type Refused = {
  readonly allowed: false;
  readonly retryAfterSeconds: number;
  /** The limit that has no room left. */
  readonly limit: RateLimit;
  /** False if other calls are still being tried, so the limit is not used up yet. */
  readonly isUsedUp: boolean;
};
export type Taken = Allowed | Refused;

export type RateLimits = {
  /** Makes all of the charges, or none. The first one without room refuses. */
  readonly take: (...charges: readonly Charge[]) => Promise<Taken>;
  /**
   * Does the work under limits on misses. It charges before, and returns the charge if the answer was right or the work
   * was not done. A refusal is returned instead of an answer.
   */
  readonly attempt: <Answer>(
    charges: readonly Charge[],
    work: () => Promise<Answer>,
    isRight: (answer: Answer) => boolean,
  ) => Promise<{ readonly allowed: true; readonly answer: Answer } | Refused>;
};

export type RateLimitsDependencies = {
  readonly cache: Pick<Cache, 'increment' | 'get'>;
  readonly clock: Clock;
  readonly derive: Derive;
  /** The setting RATE_LIMIT_FACTOR. */
  readonly factor: number;
  /** A service with its own secrets counts under keys that no other service may write. */
  readonly owner?: string | undefined;
};

/** The number of cached hashes, so that a frequent key is hashed, and a frequent address parsed, once. */
const HIDDEN_KEYS_MAX = 10_000;
/** The number of limits on misses that this process remembers as used up. */
const USED_UP_MAX = 10_000;
/** How long a call waits for others that are being tried. */
export const TURN_WAIT_MAX_MS = 5_000;
/** How often a waiting call checks on its own, because calls in other processes may have ended. */
const TURN_POLL_MS = 200;
/** Seconds after which a refused call may be repeated. They are few, because the limit is not reached. */
const BUSY_RETRY_SECONDS = 1;

type Counter = {
  readonly name: string;
  readonly points: number;
  readonly amount: number;
  readonly limit: RateLimit;
};
/** The charge of one call at one counter, until its window ends. */
type Hold = { readonly counter: Counter; readonly endsAtMs: number };

export function rateLimits(deps: RateLimitsDependencies): RateLimits {
  const { cache, clock } = deps;
  const countersOf = countersBy(deps);
  const counts = limitCounters(cache, clock);
  const turns = turnQueue(clock);
  /** The end of the window of each limit on misses that is used up, since kept misses are never returned. */
  const usedUp = expiringCache<string, number>(clock, {
    entriesMax: USED_UP_MAX,
    ttlMs: Number.POSITIVE_INFINITY,
  });
  const nowMs = () => clock.monotonicMs();

  const close = ({ counter: { name }, endsAtMs }: Hold): void => {
    usedUp.set(name, endsAtMs, endsAtMs - nowMs());
    turns.end(name);
  };
  const release = async ({ counter }: Hold): Promise<void> => {
    await counts.add(counter.name, -counter.amount, counter.limit.windowMs);
    turns.next(counter.name);
  };
  const spend = async ({ counter, endsAtMs }: Hold): Promise<void> => {
    const { name, amount, points, limit } = counter;
    const leftMs = endsAtMs - nowMs();
    if (limit.counts === 'calls' || leftMs <= 0) return;
    const { count } = await counts.add(missesOf(name), amount, leftMs);
    if (count >= points) close({ counter, endsAtMs });
    else turns.next(name);
  };
  /** Returns undefined if there is no room while others are being tried. */
  const tryOnce = async (counter: Counter): Promise<Hold | Refused | undefined> => {
    const { name, points, amount, limit } = counter;
    const endsAtMs = usedUp.get(name);
    if (endsAtMs !== undefined) return over(limit, endsAtMs - nowMs());
    const { count, remainingMs } = await counts.add(name, amount, limit.windowMs);
    const hold = { counter, endsAtMs: nowMs() + remainingMs };
    if (count <= points) return hold;
    await counts.add(name, -amount, limit.windowMs);
    if (limit.counts === 'calls') return over(limit, remainingMs);
    const misses = await counts.read(missesOf(name));
    if (misses + amount <= points) return undefined;
    close(hold);
    return over(limit, remainingMs);
  };
  const takeOne = async (counter: Counter): Promise<Hold | Refused> => {
    const untilMs = nowMs() + TURN_WAIT_MAX_MS;
    for (;;) {
      const tried = await tryOnce(counter);
      if (tried !== undefined) return tried;
      const leftMs = untilMs - nowMs();
      if (leftMs <= 0 || !(await turns.wait(counter.name, Math.min(leftMs, TURN_POLL_MS)))) {
        return busy(counter.limit);
      }
    }
  };
  const take = async (...charges: readonly Charge[]): Promise<Taken> => {
    const held: Hold[] = [];
    const each = (end: (hold: Hold) => Promise<void>) => async () => {
      await Promise.all(held.map(end));
    };
    for (const counter of charges.flatMap(countersOf)) {
      const taken = await takeOne(counter);
      if ('allowed' in taken) {
        await each(release)();
        return taken;
      }
      held.push(taken);
    }
    return { allowed: true, giveBack: each(release), keep: each(spend) };
  };

  return {
    take,
    attempt: async (charges, work, isRight) => {
      const taken = await take(...charges);
      if (!taken.allowed) return taken;
      const answer = await work().catch(async (error) => {
        await taken.giveBack();
        throw error;
      });
      await (isRight(answer) ? taken.giveBack() : taken.keep());
      return { allowed: true, answer };
    },
  };
}

const missesOf = (name: string) => `${name}:misses`;

/** The counters of a charge, in counting order. */
function countersBy({ clock, derive, factor, owner }: RateLimitsDependencies) {
  const prefix = owner === undefined ? 'limit' : `limit:${owner}`;
  const { current } = derive('JWT_SECRET', 'limit-key/v1');
  const forEver = { entriesMax: HIDDEN_KEYS_MAX, ttlMs: Number.POSITIVE_INFINITY };
  const hidden = expiringCache<string, string>(clock, forEver);
  const networks = expiringCache<string, ReturnType<typeof addressLimitKeys>>(clock, forEver);
  // Keys are hashed, because a key may be a network address, which must not be readable in the cache.
  const hide = (key: string): string => {
    const mac = hmac(current, key).toString('base64url');
    hidden.set(key, mac);
    return mac;
  };
  const networksOf = (address: string) => {
    const known = networks.get(address);
    if (known !== undefined) return known;
    const read = addressLimitKeys(address);
    networks.set(address, read);
    return read;
  };
  return ([limit, key, amount = 1]: Charge): readonly Counter[] => {
    const { name, points, per } = limit;
    const scaled = per === 'other' ? points : Math.ceil(points * factor);
    const keys = per === 'address' ? networksOf(key) : [{ key, factor: 1 }];
    return keys.map((of) => ({
      name: `${prefix}:${name}:${hidden.get(of.key) ?? hide(of.key)}`,
      points: scaled * of.factor,
      amount,
      limit,
    }));
  };
}

const over = (limit: RateLimit, afterMs: number): Refused => ({
  allowed: false,
  retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1000)),
  limit,
  isUsedUp: true,
});

const busy = (limit: RateLimit): Refused => ({
  allowed: false,
  retryAfterSeconds: BUSY_RETRY_SECONDS,
  limit,
  isUsedUp: false,
});
