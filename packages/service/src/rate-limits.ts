/**
 * How often something may be done. Counted in the shared cache and in each process, so that limits hold
 * when the cache is unavailable.
 */
import { type Derive, hmac } from '@cardea/crypto';
import { addressLimitKeys } from '@cardea/http';
import { type Cache, type Clock, expiringCache, limitCounters } from '@cardea/runtime';

export type RateLimit = {
  readonly name: string;
  readonly points: number;
  readonly windowMs: number;
  /**
   * What it is counted by. `address`: the key is a network address, from which {@link addressLimitKeys}
   * derives the counted keys. RATE_LIMIT_FACTOR multiplies the limits by address and by tenant.
   */
  readonly per: 'address' | 'tenant' | 'other';
};

export type Taken =
  | { readonly allowed: true; readonly giveBack: () => Promise<void> }
  | { readonly allowed: false; readonly retryAfterSeconds: number };
export type Looked =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

export type RateLimits = {
  /** Counts first, then decides: of many concurrent calls no more than the limit are allowed. */
  readonly take: (limit: RateLimit, key: string) => Promise<Taken>;
  /**
   * For limits on failures: decides without counting, so that many concurrent valid requests are allowed; a
   * failure is then counted by {@link RateLimits.take}.
   */
  readonly look: (limit: RateLimit, key: string) => Promise<Looked>;
  /**
   * As {@link RateLimits.look}, but from the results that {@link RateLimits.take} returned to this process:
   * it needs no round trip, and knows the counts of other processes only as of its own last one.
   */
  readonly recall: (limit: RateLimit, key: string) => Looked;
};

export type RateLimitsDependencies = {
  readonly cache: Pick<Cache, 'increment' | 'get'>;
  readonly clock: Clock;
  readonly derive: Derive;
  /** RATE_LIMIT_FACTOR. */
  readonly factor: number;
  /** A service with secrets of its own counts under keys that no other one may write. */
  readonly owner?: string | undefined;
};

/** So that a frequent key is hashed, and a frequent address read, once. */
const HIDDEN_KEYS_MAX = 10_000;
/** Counters whose limit is used up, as far as this process knows. */
const USED_UP_MAX = 10_000;

export function rateLimits(needs: RateLimitsDependencies): RateLimits {
  const { cache, clock, derive, factor, owner } = needs;
  const prefix = owner === undefined ? 'limit' : `limit:${owner}`;
  const counters = limitCounters(cache, clock);
  const { current } = derive('JWT_SECRET', 'limit-key/v1');
  const forEver = { entriesMax: HIDDEN_KEYS_MAX, ttlMs: Number.POSITIVE_INFINITY };
  const hidden = expiringCache<string, string>(clock, forEver);
  const networks = expiringCache<string, ReturnType<typeof addressLimitKeys>>(clock, forEver);
  /** The end of each counter's window. */
  const usedUp = expiringCache<string, number>(clock, { ...forEver, entriesMax: USED_UP_MAX });
  // Keys are hashed, because a key may be a network address, which nobody should read in the cache.
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
  /** The counters in counting order; once one refuses, the later ones are not charged. */
  const countersOf = ({ name, points, per }: RateLimit, key: string) => {
    const scaled = per === 'other' ? points : Math.ceil(points * factor);
    const keys = per === 'address' ? networksOf(key) : [{ key, factor: 1 }];
    return keys.map((of) => ({
      name: `${prefix}:${name}:${hidden.get(of.key) ?? hide(of.key)}`,
      points: scaled * of.factor,
    }));
  };

  return {
    look: async (limit, key) => {
      const all = countersOf(limit, key).map(
        async ({ name, points }) => (await counters.read(name)) < points,
      );
      // The rest of the window is not read from the cache: its whole length is a safe answer.
      return (await Promise.all(all)).every(Boolean) ? { allowed: true } : over(limit.windowMs);
    },
    recall: (limit, key) => {
      const nowMs = clock.monotonicMs();
      for (const { name } of countersOf(limit, key)) {
        const untilMs = usedUp.get(name);
        if (untilMs !== undefined) return over(untilMs - nowMs);
      }
      return { allowed: true };
    },
    take: async (limit, key) => {
      const taken = countersOf(limit, key);
      for (const { name, points } of taken) {
        const { count, remainingMs } = await counters.add(name, 1, limit.windowMs);
        if (count >= points) usedUp.set(name, clock.monotonicMs() + remainingMs, remainingMs);
        if (count > points) return over(remainingMs);
      }
      return {
        allowed: true,
        giveBack: async () => {
          for (const { name } of taken) {
            usedUp.delete(name);
            await counters.add(name, -1, limit.windowMs);
          }
        },
      };
    },
  };
}

const over = (afterMs: number) =>
  ({ allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1000)) }) as const;
