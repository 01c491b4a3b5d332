import type { PartitionEnds } from '@cardea/event-bus';
import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { ingestProgress } from './ingest-progress.ts';

const TOPIC = 'cardea.identity.events.v1';
const PARTITION = `${TOPIC}/0`;
const ends = (high: bigint, low = 0n): readonly PartitionEnds[] => [
  { topic: TOPIC, partition: 0, low, high },
];

async function rig({ applied = -1n } = {}) {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const cache = inProcessCache(clock);
  let stored = applied;
  let looks = 0;
  const bus = {
    applied: async () => {
      looks += 1;
      return new Map([[PARTITION, stored]]);
    },
  };
  const progress = ingestProgress({ bus, cache, clock });
  await progress.start();
  return {
    clock,
    cache,
    progress,
    looks: () => looks,
    store: (offset: bigint) => {
      stored = offset;
    },
    waitFor: (wanted: readonly PartitionEnds[]) => {
      let passed = false;
      const waiting = progress
        .untilPassed(wanted, () => true)
        .then(() => {
          passed = true;
        });
      return { waiting, hasPassed: () => passed };
    },
  };
}
const turns = async () => {
  for (let n = 0; n < 20; n += 1) await new Promise((done) => setImmediate(done));
};

describe('whoever waits for ingest', () => {
  it('waits for the ends that were read once, however far the topics go on meanwhile', async () => {
    const { progress, waitFor } = await rig({ applied: 4n });
    const { waiting, hasPassed } = waitFor(ends(11n));
    for (const offset of [7n, 9n]) {
      progress.tell(new Map([[PARTITION, offset]]));
      await turns();
      expect(hasPassed()).toBe(false);
    }
    progress.tell(new Map([[PARTITION, 10n]]));
    await waiting;
  });

  it('is told by another replica, and asks the tables no more than once for that', async () => {
    const { cache, waitFor, looks } = await rig({ applied: 4n });
    const { waiting } = waitFor(ends(11n));
    await turns();
    await cache.publish('audit:ingested', JSON.stringify([[PARTITION, '10']]));
    await waiting;
    expect(looks()).toBe(1);
  });

  it('looks four times a second where no notice comes', async () => {
    const { clock, store, waitFor, looks } = await rig({ applied: 4n });
    const { waiting } = waitFor(ends(11n));
    await turns();
    store(10n);
    await clock.advance(249);
    expect(looks()).toBe(1);
    await clock.advance(1);
    await waiting;
    expect(looks()).toBe(2);
  });

  it('goes on without the cache', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z');
    const away = async (): Promise<never> => {
      throw new CacheUnavailable('away');
    };
    const progress = ingestProgress({
      bus: { applied: async () => new Map() },
      cache: { publish: away, subscribe: async () => async () => undefined },
      clock,
    });
    const waiting = progress.untilPassed(ends(1n), () => true);
    await turns();
    progress.tell(new Map([[PARTITION, 0n]]));
    await waiting;
  });

  it('does not wait for a partition that stands still: its next record is gone', async () => {
    const { waitFor } = await rig({ applied: 4n });
    await waitFor(ends(20n, 9n)).waiting;
  });

  it('waits for a partition of which nothing was read yet, wherever it begins', async () => {
    const { waitFor, progress } = await rig();
    const { waiting, hasPassed } = waitFor(ends(20n, 9n));
    await turns();
    expect(hasPassed()).toBe(false);
    progress.tell(new Map([[PARTITION, 19n]]));
    await waiting;
  });
});
