/**
 * At most a few passwords are hashed at once; the others wait, in rounds between tenants (`docs/design/bounds.md`,
 * C1). Hashes that were made elsewhere and cost more than ours have places of their own, one per tenant, so that
 * they take none from anybody else (C7).
 */
import { Overloaded } from '@cardea/http';
import { type Clock, FairQueue } from '@cardea/runtime';

/** How many hashes of all tenants may wait; one tenant alone may have half of them. */
export const HASH_QUEUE_MAX = 128;
export const HASH_WAIT_MAX_MS = 2_000;
/** Longer than several hashes at their ceilings, so that those of other tenants refuse nobody. */
export const FOREIGN_WAIT_MAX_MS = 15_000;

export type HashJob = {
  readonly tenantId: string;
  /** The hash was made elsewhere and costs more than ours. */
  readonly isForeign?: boolean;
};

export type HashPermits = {
  /** A permit belongs to the job: it is kept until the hash has ended, even if the client has disconnected. */
  readonly run: <T>(job: HashJob, work: () => Promise<T>) => Promise<T>;
  /** Jobs that wait, for metrics. */
  readonly waiting: () => number;
};

export function hashPermits(concurrency: number, clock: Pick<Clock, 'after'>): HashPermits {
  const waitingMax = HASH_QUEUE_MAX;
  const own = new FairQueue(
    // Held for milliseconds, so that all of them may go to whoever asks.
    {
      places: concurrency,
      perFreePlace: Number.POSITIVE_INFINITY,
      waitingMax,
      waitMaxMs: HASH_WAIT_MAX_MS,
    },
    clock,
  );
  const places = Math.max(1, Math.floor(concurrency / 2));
  const foreign = new FairQueue(
    // A tenant holds one at a time, whatever is free.
    { places, perFreePlace: 0, waitingMax, waitMaxMs: FOREIGN_WAIT_MAX_MS },
    clock,
  );
  return {
    run: async ({ tenantId, isForeign = false }, work) => {
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
