/**
 * A minimum time per tenant for all responses of a sign-in: the time of the most expensive hash among the tenant's
 * accounts. Thus the response time reveals neither whether an account exists nor which hash it has.
 */
import type { Command, Streams } from '@cardea/event-store';
import { type Clock, loadingCache } from '@cardea/runtime';
import type { HashCost } from '../../adapters/hash-cost.ts';
import { type DearestHash, dearestHashes, isDearer, raiseDearestHash } from './dearest-hash.ts';

export type SignInFloor = {
  /** Does the work, and answers no sooner than this number of hashes takes at the tenant's floor. */
  readonly hold: <T>(tenantId: string, work: () => Promise<T>, hashes: number) => Promise<T>;
  /** Verifies a hash of this cost. The time counts for the floor. */
  readonly timed: <T>(cost: HashCost, verify: () => Promise<T>) => Promise<T>;
  /** Records that accounts of the tenant have a hash of this cost. */
  readonly note: (tenantId: string, cost: HashCost) => Promise<void>;
};

export type SignInFloorDependencies = {
  readonly streams: Streams;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Verifies a sample, to measure its time. */
  readonly verify: (tenantId: string, sample: string) => Promise<unknown>;
};

const TENANTS_MAX = 10_000;
/** How long the floor is cached. Another replica may have recorded a more expensive hash. */
const KNOWN_MS = 60_000;
/** The number of measured times per sample. The longest of them is the floor, because load slows a hash down. */
const TIMES_KEPT = 16;
/** The number of samples whose times are kept. The oldest are dropped and measured again when needed. */
const SAMPLES_MAX = 1_000;

export function signInFloor(deps: SignInFloorDependencies): SignInFloor {
  const { streams, clock, systemCommand } = deps;
  const known = loadingCache<string, DearestHash>(clock, {
    entriesMax: TENANTS_MAX,
    ttlMs: KNOWN_MS,
  });
  /** Times in ms, by sample. Hashes that differ only in their salt have the same sample. */
  const times = new Map<string, readonly number[]>();
  const measuring = new Map<string, Promise<unknown>>();

  const dearestOf = (tenantId: string): Promise<DearestHash> =>
    known.get(tenantId, async () => {
      const { state } = await streams.load(dearestHashes, { tenantId, id: tenantId });
      return state;
    });
  const timed = async <T>({ sample }: HashCost, verify: () => Promise<T>): Promise<T> => {
    const beganMs = clock.monotonicMs();
    const answer = await verify();
    const tookMs = clock.monotonicMs() - beganMs;
    const [oldest] = times.keys();
    if (times.size >= SAMPLES_MAX && !times.has(sample) && oldest !== undefined) {
      times.delete(oldest);
    }
    times.set(sample, [...(times.get(sample) ?? []), tookMs].slice(-TIMES_KEPT));
    return answer;
  };
  const measure = async (tenantId: string, cost: HashCost): Promise<void> => {
    const { sample } = cost;
    const under = measuring.get(sample) ?? deps.verify(tenantId, sample);
    measuring.set(sample, under);
    await under.finally(() => measuring.delete(sample));
    // Nothing was measured, because our own hashes have become as expensive since the cost was recorded.
    if (!times.has(sample)) times.set(sample, [0]);
  };
  const floorOf = async (tenantId: string): Promise<number> => {
    const dearest = await dearestOf(tenantId);
    if (dearest.status === 'none') return 0;
    if (!times.has(dearest.sample)) await measure(tenantId, dearest);
    return Math.max(0, ...(times.get(dearest.sample) ?? []));
  };

  return {
    timed,
    hold: async (tenantId, work, hashes) => {
      const beganMs = clock.monotonicMs();
      const floor = floorOf(tenantId);
      const answer = await work();
      const leftMs = hashes * (await floor) - (clock.monotonicMs() - beganMs);
      if (leftMs > 0) await clock.sleep(leftMs);
      return answer;
    },
    note: async (tenantId, cost) => {
      if (!isDearer(cost, await dearestOf(tenantId))) return;
      const command = systemCommand(tenantId, 'dearest hash', cost.sample);
      await streams.decideOn(dearestHashes, tenantId, command, (dearest) =>
        raiseDearestHash(cost, dearest),
      );
      known.delete(tenantId);
    },
  };
}
