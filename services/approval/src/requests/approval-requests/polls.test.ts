import { type Cache, CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { silentLogger } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  POLL_REREAD_MS,
  POLL_WAIT_MS,
  POLLED_AT_ONCE_MAX,
  POLLS_MAX,
  POLLS_PER_PRINCIPAL_MAX,
} from '../limits.ts';
import { changes } from './changes.ts';
import { polls } from './polls.ts';

type FixtureCache = Pick<Cache, 'publish' | 'subscribe' | 'ping'>;

function fixture(cacheParts: Partial<FixtureCache> = {}) {
  const clock = fakeClock('2026-01-01T10:00:00.000Z');
  const cache: FixtureCache = { ...inProcessCache(clock), ping: async () => {}, ...cacheParts };
  const heard = changes(cache, silentLogger);
  const waiting = polls({ changes: heard, clock, cache });
  const stop = new AbortController();
  const gone = new AbortController();
  void waiting.loop.run(
    stop.signal,
    () => {},
    () => {},
  );
  let status = 'pending';
  let waits = 0;
  const poll = (
    read = async () => status,
    endsAt?: Date,
    { tenantId = 't1', name = 'ann', id = 'r1', look = read } = {},
  ) =>
    waiting.wait({
      id,
      tenantId,
      principal: name,
      waitMs: POLL_WAIT_MS,
      read,
      look,
      isOver: (state) => state !== 'pending',
      endsAt: () => endsAt,
      onWait: () => {
        waits += 1;
      },
      signal: gone.signal,
      draining: stop.signal,
    });
  return {
    clock,
    heard,
    waiting,
    stop,
    gone,
    poll,
    waits: () => waits,
    decide: () => {
      status = 'approved';
    },
  };
}

/** Resolves when all waiting polls sleep, and the loop. */
const asleep = async (clock: { readonly sleepers: number }, count = 1) => {
  while (clock.sleepers < count + 1) await new Promise((done) => setImmediate(done));
};

describe('a long poll', () => {
  it('approval 8 is answered by the word of a decision, without any time passing', async () => {
    const { clock, heard, poll, decide } = fixture();
    const answer = poll();
    await asleep(clock);
    decide();
    await heard.announce('r1', 2);
    expect(await answer).toBe('approved');
    expect(clock.monotonicMs()).toBe(0);
  });

  it('C1 gives its turn up when it begins to wait, and not for a request that is decided', async () => {
    const { clock, heard, poll, decide, waits } = fixture();
    const answer = poll();
    expect(waits()).toBe(0);
    await asleep(clock);
    expect(waits()).toBe(1);
    decide();
    await heard.announce('r1', 2);
    expect(await answer).toBe('approved');
    expect(await poll()).toBe('approved');
    expect(waits()).toBe(1);
  });

  it('approval 9 misses no decision that falls between its reading and its waiting', async () => {
    const { clock, heard, poll, decide } = fixture();
    let reads = 0;
    const answer = poll(async () => {
      reads += 1;
      if (reads > 1) return 'approved';
      decide();
      await heard.announce('r1', 2);
      return 'pending';
    });
    expect(await answer).toBe('approved');
    expect(clock.monotonicMs()).toBe(0);
  });

  it('approval 8 is pending still after half a minute, and looks by itself meanwhile', async () => {
    const first = fixture();
    const undecided = first.poll();
    await asleep(first.clock);
    await first.clock.advance(POLL_WAIT_MS);
    expect(await undecided).toBe('pending');

    const second = fixture();
    const lost = second.poll();
    await asleep(second.clock);
    second.decide();
    await second.clock.advance(5_000);
    expect(await lost).toBe('approved');
  });

  it('approval 8 looks each second while the cache is away', async () => {
    const ping = async () => {
      throw new CacheUnavailable('away');
    };
    const { clock, poll, decide } = fixture({ ping });
    const answer = poll();
    await asleep(clock);
    decide();
    await clock.advance(1_000);
    expect(await answer).toBe('approved');
  });

  it('looks again when words were missed, whatever they were about', async () => {
    let healed = (): void => {};
    const { clock, poll, decide } = fixture({
      subscribe: async (_channel, _hear, gap) => {
        healed = gap?.healed ?? healed;
        return async () => {};
      },
    });
    const answer = poll();
    await asleep(clock);
    decide();
    healed();
    expect(await answer).toBe('approved');
    expect(clock.monotonicMs()).toBe(0);
  });

  it('costs no read: each request is looked at once in 5 s for all its polls', async () => {
    const { clock, poll, stop } = fixture();
    const REQUESTS = 2 * POLLED_AT_ONCE_MAX + 1;
    let reads = 0;
    let [underWay, most] = [0, 0];
    const looks = new Map<string, number>();
    const open = Array.from({ length: 2 * REQUESTS }, (_, at) => {
      const id = `r${at % REQUESTS}`;
      const read = async () => {
        reads += 1;
        return 'pending';
      };
      const look = async () => {
        looks.set(id, (looks.get(id) ?? 0) + 1);
        underWay += 1;
        most = Math.max(most, underWay);
        await Promise.resolve();
        underWay -= 1;
        return 'pending';
      };
      return poll(read, undefined, { name: `user ${at}`, id, look });
    });
    await asleep(clock, open.length);
    expect(reads).toBe(open.length);
    await clock.advance(POLL_REREAD_MS);
    expect(reads).toBe(open.length);
    expect(looks.size).toBe(REQUESTS);
    expect(new Set(looks.values())).toEqual(new Set([1]));
    expect(most).toBe(POLLED_AT_ONCE_MAX);
    await clock.advance(2 * POLL_REREAD_MS);
    // Requests that are due within the next second are looked at too, so the third look can come one turn early.
    expect([...looks.values()].every((count) => count === 3 || count === 4)).toBe(true);
    stop.abort();
    expect(new Set(await Promise.all(open))).toEqual(new Set(['pending']));
    expect(reads).toBe(2 * open.length);
  });

  it('reads for itself when the look at its request fails', async () => {
    const { clock, poll } = fixture();
    let isAway = false;
    const read = async () => {
      if (isAway) throw new Error('the database is away');
      return 'pending';
    };
    const answer = poll(read);
    const failed = expect(answer).rejects.toThrow('the database is away');
    await asleep(clock);
    isAway = true;
    await clock.advance(POLL_REREAD_MS);
    await failed;
  });

  it('is woken while the look at the request of another tenant takes long or fails', async () => {
    const { clock, poll, decide, stop } = fixture();
    const pending = async () => 'pending';
    const slow = Promise.withResolvers<string>();
    const fail = async () => {
      throw new Error('a stream that cannot be read');
    };
    const others = [
      poll(pending, undefined, { tenantId: 't2', id: 'r2', look: () => slow.promise }),
      poll(pending, undefined, { tenantId: 't3', id: 'r3', look: fail }),
    ];
    const answer = poll();
    await asleep(clock, 3);
    decide();
    await clock.advance(POLL_REREAD_MS);
    expect(await answer).toBe('approved');
    slow.resolve('pending');
    stop.abort();
    expect(await Promise.all(others)).toEqual(['pending', 'pending']);
  });

  it('reads again when the clock was set past the end of its request', async () => {
    const { clock, poll } = fixture();
    const endsAt = new Date('2026-01-01T11:00:00.000Z');
    let status = 'pending';
    const answer = poll(async () => status, endsAt);
    await asleep(clock);
    clock.setWall('2026-01-01T11:00:00.000Z');
    status = 'expired';
    await clock.advance(POLL_REREAD_MS);
    expect(await answer).toBe('expired');
    expect(clock.monotonicMs()).toBe(POLL_REREAD_MS);
  });

  it('whose client is gone ends, and its request is looked at no more', async () => {
    const { clock, poll, gone } = fixture();
    let reads = 0;
    const answer = poll(async () => {
      reads += 1;
      return 'pending';
    });
    await asleep(clock);
    gone.abort();
    expect(await answer).toBe('pending');
    await clock.advance(2 * POLL_REREAD_MS);
    expect(reads).toBe(2);
  });

  it('approval 10 is answered as things stand when the process stops', async () => {
    const { clock, poll, stop } = fixture();
    const answers = [poll(), poll()];
    await asleep(clock, 2);
    stop.abort();
    expect(await Promise.all(answers)).toEqual(['pending', 'pending']);
  });

  it('C1 is refused to a tenant that has a quarter of all open, and to no other tenant', async () => {
    const { clock, poll, stop } = fixture();
    const pollOf = (tenantId: string, at: number) =>
      poll(undefined, undefined, { tenantId, name: `${tenantId} ${at}` });
    const open = Array.from({ length: POLLS_MAX / 4 }, (_, at) => pollOf('busy', at));
    await asleep(clock, POLLS_MAX / 4);
    expect(await pollOf('busy', POLLS_MAX)).toBe('too_many_polls');
    for (const tenantId of ['second', 'third', 'fourth', 'fifth']) {
      open.push(...Array.from({ length: POLLS_MAX / 4 }, (_, at) => pollOf(tenantId, at)));
    }
    const calm = pollOf('calm', 0);
    stop.abort();
    expect(await calm).toBe('pending');
    await Promise.all(open);
  });

  it('is one of ten at most, and leaves its place when it ends', async () => {
    const { clock, poll, stop, heard, decide } = fixture();
    const open = Array.from({ length: POLLS_PER_PRINCIPAL_MAX }, () => poll());
    await asleep(clock, POLLS_PER_PRINCIPAL_MAX);
    expect(await poll()).toBe('too_many_polls');
    decide();
    await heard.announce('r1', 2);
    await Promise.all(open);
    expect(await poll()).toBe('approved');
    stop.abort();
  });
});
