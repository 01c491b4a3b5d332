/**
 * One floor of time per tenant for all answers of a sign-in: as long as the dearest hash takes that accounts of
 * the tenant have. So the time tells neither whether there is an account, nor which hash it has.
 */
import type { Command, Streams } from '@cardea/event-store';
import { type Clock, loadingCache } from '@cardea/runtime';
import type { HashCost } from '../../adapters/hash-cost.ts';
import { type DearestHash, dearestHashes, isDearer, raiseDearestHash } from './dearest-hash.ts';

export type SignInFloor = {
  /** Does the work, and answers no sooner than so many hashes of the tenant's floor take. */
  readonly hold: <T>(tenantId: string, work: () => Promise<T>, hashes: number) => Promise<T>;
  /** Verifies a hash of this cost; its time counts for the floor. */
  readonly timed: <T>(cost: HashCost, verify: () => Promise<T>) => Promise<T>;
  /** Accounts of the tenant have a hash of this cost. */
  readonly note: (tenantId: string, cost: HashCost) => Promise<void>;
};

export type SignInFloorDependencies = {
  readonly streams: Streams;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly systemCommand: (tenantId: string, ...idParts: readonly string[]) => Command;
  /** Verifies a sample, so that its time is known. */
  readonly verify: (tenantId: string, sample: string) => Promise<unknown>;
};

const TENANTS_MAX = 10_000;
/** Another replica may have met a dearer hash. */
const KNOWN_MS = 60_000;
/** The longest of so many is the floor: load makes a hash slower. */
const TIMES_KEPT = 16;
/** Parameters whose times are kept; those that were measured first go, and are measured again. */
const SAMPLES_MAX = 1_000;

export function signInFloor(deps: SignInFloorDependencies): SignInFloor {
  const { streams, clock, systemCommand } = deps;
  const known = loadingCache<string, DearestHash>(clock, {
    entriesMax: TENANTS_MAX,
    ttlMs: KNOWN_MS,
  });
  /** Milliseconds, by sample; those of hashes that differ in nothing but salt are the same. */
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
    // Since it was noted, our own hashes have become as dear.
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
