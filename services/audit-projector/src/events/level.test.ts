import { CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { untilLevel } from './level.ts';

const HEAD = 7n;

function rig(cache: Pick<ReturnType<typeof inProcessCache>, 'getMany'>) {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const passed = Promise.withResolvers<void>();
  let endsRead = 0;
  const wait = untilLevel({
    store: {
      head: async (log) => {
        if (log === 'vault') throw new Error('a log out of reach');
        return HEAD;
      },
    },
    bus: {
      ends: async () => {
        endsRead += 1;
        return [];
      },
    },
    progress: { untilPassed: () => passed.promise },
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
    endsRead: () => endsRead,
    pass: () => passed.resolve(),
  };
}

const away = {
  getMany: async (): Promise<never> => {
    throw new CacheUnavailable('away');
  },
};
const asleep = async (clock: { readonly sleepers: number }) => {
  while (clock.sleepers < 2) await new Promise((done) => setImmediate(done));
};

describe('a first page of the audit log', () => {
  it('reads the ends of the topics once, after the relays have published what was there', async () => {
    let relayed = HEAD - 1n;
    const notes = { getMany: async (keys: readonly string[]) => keys.map(() => String(relayed)) };
    const { clock, waiting, isWaiting, endsRead, pass } = rig(notes);
    await asleep(clock);
    await clock.advance(100);
    expect(endsRead()).toBe(0);
    relayed = HEAD;
    await clock.advance(15);
    expect(isWaiting()).toBe(true);
    pass();
    await waiting;
    expect(endsRead()).toBe(1);
  });

  it('without the cache gives the relays a moment, and then waits for what they published', async () => {
    const { clock, waiting, isWaiting, endsRead, pass } = rig(away);
    await asleep(clock);
    await clock.advance(299);
    expect(endsRead()).toBe(0);
    await clock.advance(101);
    expect([isWaiting(), endsRead()]).toEqual([true, 1]);
    pass();
    await waiting;
  });

  it('is served after a second as it is, with the cache or without', async () => {
    for (const cache of [away, inProcessCache(fakeClock('2026-01-01T00:00:00Z'))]) {
      const { clock, waiting } = rig(cache);
      await asleep(clock);
      await clock.advance(1_000);
      await waiting;
      expect(clock.monotonicMs()).toBe(1_000);
    }
  });
});
