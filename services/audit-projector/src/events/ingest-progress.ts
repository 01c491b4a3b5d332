/**
 * The progress of ingest that this replica knows of. Each batch publishes its offsets to all replicas after its commit.
 * A request that waits for offsets reads the tables only if no notice arrives, and occupies no connection while it
 * waits.
 */
import { hasPassed, type PartitionEnds } from '@cardea/event-bus';
import { CacheUnavailable } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { INGEST, TOPICS } from './ingest.consumer.ts';
import { shared } from './shared.ts';

const CHANNEL = 'audit:ingested';
const LOOK_MS = 250;

/** The last applied offset of each partition. */
type Offsets = ReadonlyMap<string, bigint>;

export type IngestProgress = {
  /** Publishes offsets to all replicas after a commit. */
  readonly tell: (offsets: Offsets) => void;
  /** Waits until ingest has applied everything before these ends. Gives up when `inTime` returns false. */
  readonly untilPassed: (ends: readonly PartitionEnds[], inTime: () => boolean) => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Dependencies = Pick<ServiceDependencies, 'clock'> & {
  readonly bus: Pick<ServiceDependencies['bus'], 'applied'>;
  readonly cache: Pick<ServiceDependencies['cache'], 'publish' | 'subscribe'>;
};

export function ingestProgress({ bus, cache, clock }: Dependencies): IngestProgress {
  const known = new Map<string, bigint>();
  const waiting = new Set<() => void>();
  let hasLooked = false;
  let unsubscribe: (() => Promise<void>) | undefined;

  const raise = (offsets: Offsets): void => {
    for (const [partition, offset] of offsets) {
      if (offset > (known.get(partition) ?? -1n)) known.set(partition, offset);
    }
    for (const wake of [...waiting]) wake();
  };
  const look = shared(async () => {
    raise(await bus.applied(INGEST, TOPICS));
    hasLooked = true;
  });
  /** Resolves with true when an offset moved, and with false after this time without a move. */
  const moved = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (isMoved: boolean) => () => {
        cancel();
        waiting.delete(wake);
        resolve(isMoved);
      };
      const wake = end(true);
      const cancel = clock.after(ms, end(false));
      waiting.add(wake);
    });

  return {
    tell: (offsets) => {
      raise(offsets);
      cache.publish(CHANNEL, print(offsets)).catch(unlessAway);
    },
    untilPassed: async (ends, inTime) => {
      // No notice covers events that were applied before this process started.
      if (!hasLooked) await look();
      while (!hasPassed(ends, known) && inTime()) {
        const isTold = await moved(LOOK_MS);
        if (!isTold) await look();
      }
    },
    start: async () => {
      unsubscribe = await cache.subscribe(CHANNEL, (message) => raise(read(message)));
    },
    stop: async () => unsubscribe?.(),
  };
}

const print = (offsets: Offsets): string =>
  JSON.stringify([...offsets].map(([partition, offset]) => [partition, String(offset)]));

const read = (message: string): Offsets =>
  new Map(
    (JSON.parse(message) as readonly [string, string][]).map(([partition, offset]) => [
      partition,
      BigInt(offset),
    ]),
  );

/** If the cache is unavailable, waiting requests read the tables themselves. */
function unlessAway(error: unknown): void {
  if (!(error instanceof CacheUnavailable)) throw error;
}
