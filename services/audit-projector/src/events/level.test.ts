import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { untilLevel } from './level.ts';

function rig(cache: Pick<ReturnType<typeof inProcessCache>, 'getMany'>) {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  let level = false;
  const wait = untilLevel({
    store: { head: async () => 7n },
    bus: { isLevel: async () => level },
    cache,
    clock,
  });
  let waited = false;
  const waiting = wait().then(() => {
    waited = true;
  });
  return {
    clock,
    waiting,
    isWaiting: () => !waited,
    reach: () => {
      level = true;
    },
  };
}

const away = {
  getMany: async (): Promise<never> => {
    throw new CacheUnavailable('away');
  },
};
const asleep = async (clock: { readonly sleepers: number }) => {
  while (clock.sleepers < 1) await new Promise((done) => setImmediate(done));
};

describe('a first page of the audit log', () => {
  it('without the cache gives the relays a moment, and then waits for what they published', async () => {
    const { clock, waiting, isWaiting, reach } = rig(away);
    await asleep(clock);
    await clock.advance(299);
    expect(isWaiting()).toBe(true);
    await clock.advance(101);
    expect(isWaiting()).toBe(true);
    reach();
    await clock.advance(15);
    await waiting;
  });

  it('is served after a second as it is, with the cache or without', async () => {
    for (const cache of [away, inProcessCache(fakeClock('2026-01-01T00:00:00Z'))]) {
      const { clock, waiting } = rig(cache);
      await asleep(clock);
      await clock.advance(1_030);
      await waiting;
      expect(clock.monotonicMs()).toBe(1_030);
    }
  });
});
