/**
 * How often something may be asked (`design/identity.md` section 13). Counted in the shared cache and in
 * each process, so a limit is never simply open.
 */
import { hmac } from '@cardea/crypto';
import { limitCounters } from '@cardea/runtime';
import type { ServiceNeeds } from '@cardea/service';
import QuickLRU from 'quick-lru';

export type Limit = {
  readonly name: string;
  readonly points: number;
  readonly windowMs: number;
  /** Multiplied by RATE_LIMIT_FACTOR: limits by network address and tenant. */
  readonly scaled: boolean;
};

/** Whoever asks often is named once. */
const HIDDEN_KEYS_MAX = 10_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const perAddress = (name: string, points: number, windowMs: number): Limit => ({
  name,
  points,
  windowMs,
  scaled: true,
});
const plain = (name: string, points: number, windowMs: number): Limit => ({
  name,
  points,
  windowMs,
  scaled: false,
});

export const LIMITS = {
  signInFailuresByIp: perAddress('signin_ip', 50, 10 * MINUTE_MS),
  registrationsByIp: perAddress('register_ip', 20, HOUR_MS),
  registrationsByTenant: perAddress('register_tenant', 1_000, HOUR_MS),
  mailByAddressShort: plain('mail_address_minute', 3, MINUTE_MS),
  mailByAddressLong: plain('mail_address_hour', 10, HOUR_MS),
  mailByIp: perAddress('mail_ip', 30, HOUR_MS),
  secretFailuresByIp: perAddress('secret_ip', 30, 10 * MINUTE_MS),
  refreshBySession: plain('refresh_sid', 300, MINUTE_MS),
  refreshFailuresByIp: perAddress('refresh_ip', 60, MINUTE_MS),
  identifyByIp: perAddress('identify_ip', 300, MINUTE_MS),
  agentSessionsByAgent: plain('agent_sessions', 120, MINUTE_MS),
} as const;

export type Taken =
  | { readonly allowed: true; readonly giveBack: () => Promise<void> }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

export type Limits = {
  /** Counts first, then tells: of many at once no more than the limit pass. */
  readonly take: (limit: Limit, key: string) => Promise<Taken>;
  /**
   * For limits on failures alone: tells without counting, so that many honest requests at once are no
   * offence; the failure is then counted by {@link Limits.take}.
   */
  readonly look: (limit: Limit, key: string) => Promise<Looked>;
};
export type Looked =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

export function limits(
  { cache, clock, derive }: Pick<ServiceNeeds, 'cache' | 'clock' | 'derive'>,
  factor: number,
): Limits {
  const counters = limitCounters(cache, clock);
  const pointsOf = (limit: Limit) =>
    limit.scaled ? Math.ceil(limit.points * factor) : limit.points;
  const { current } = derive('JWT_SECRET', 'limit-key/v1');
  const hidden = new QuickLRU<string, string>({ maxSize: HIDDEN_KEYS_MAX });
  // A key may be a network address, which is nobody's to read in a cache.
  const hide = (key: string): string => {
    const mac = hmac(current, key).toString('base64url');
    hidden.set(key, mac);
    return mac;
  };
  const nameOf = ({ name }: Limit, key: string) => `limit:${name}:${hidden.get(key) ?? hide(key)}`;

  return {
    look: async (limit, key) =>
      (await counters.read(nameOf(limit, key))) < pointsOf(limit) ? { allowed: true } : over(limit),
    take: async (limit, key) => {
      const name = nameOf(limit, key);
      const { count, remainingMs } = await counters.add(name, 1, limit.windowMs);
      if (count > pointsOf(limit)) {
        return { allowed: false, retryAfterSeconds: seconds(remainingMs) };
      }
      return {
        allowed: true,
        giveBack: async () => {
          await counters.add(name, -1, limit.windowMs);
        },
      };
    },
  };
}

/** How much of the window is left is not asked for: the whole of it is a safe answer. */
const over = (limit: Limit): Looked => ({
  allowed: false,
  retryAfterSeconds: seconds(limit.windowMs),
});

const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
