/**
 * Limits how many passwords are hashed concurrently. Further jobs wait, in turns between tenants
 * (`docs/design/bounds.md`, C1). Imported hashes that cost more than ours have separate permits, one per tenant, so
 * they take none from other tenants (C7).
 */
import { Overloaded } from '@cardea/http';
import { type Clock, FairQueue, SharedUse } from '@cardea/runtime';

/** How many jobs of all tenants may wait. One tenant alone may have half of them. */
export const HASH_QUEUE_MAX = 128;
export const HASH_WAIT_MAX_MS = 2_000;
/** Longer than several hashes at their maximum cost, so that one tenant's hashes cause no refusals for another. */
export const FOREIGN_WAIT_MAX_MS = 15_000;

export type HashJob = {
  readonly tenantId: string;
  /** The hash was imported and costs more than ours. */
  readonly isForeign?: boolean;
};

export type HashPermits = {
  /** A permit belongs to the job: it is kept until the hash has ended, even if the client has disconnected. */
  readonly run: <T>(job: HashJob, work: () => Promise<T>) => Promise<T>;
  /** The number of waiting jobs, for metrics. */
  readonly waiting: () => number;
};

export function hashPermits(
  concurrency: number,
  clock: Pick<Clock, 'after' | 'monotonicMs'>,
): HashPermits {
  const waitingMax = HASH_QUEUE_MAX;
  const use = new SharedUse(clock);
  let isShared = false;
  const own = new FairQueue(
    // While several tenants hash, one tenant has at most half of the permits, so that the rest of the processor serves
    // the others.
    {
      places: concurrency,
      perFreePlace: () => (isShared ? 1 : Number.POSITIVE_INFINITY),
      waitingMax,
      waitMaxMs: HASH_WAIT_MAX_MS,
    },
    clock,
  );
  const places = Math.max(1, Math.floor(concurrency / 2));
  const foreign = new FairQueue(
    // A tenant has one such permit at a time, even if others are free.
    { places, perFreePlace: 0, waitingMax, waitMaxMs: FOREIGN_WAIT_MAX_MS },
    clock,
  );
  return {
    run: async ({ tenantId, isForeign = false }, work) => {
      isShared = use.by(tenantId);
      const giveBack = await (isForeign ? foreign : own).take(tenantId);
      if (giveBack === undefined) throw new Overloaded('no turn for a password hash');
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
    waiting: () => own.waiting + foreign.waiting,
  };
}
