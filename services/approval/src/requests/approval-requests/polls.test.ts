import { type Cache, CacheUnavailable, fakeClock, inProcessCache } from '@cardea/runtime';
import { silentLogger } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { POLL_WAIT_MS, POLLS_MAX, POLLS_PER_PRINCIPAL_MAX } from '../limits.ts';
import { changes } from './changes.ts';
import { polls } from './polls.ts';

function fixture({ ping = async () => {} }: { readonly ping?: () => Promise<void> } = {}) {
  const clock = fakeClock('2026-01-01T10:00:00.000Z');
  const heard = changes(inProcessCache(clock), silentLogger);
  const waiting = polls({ changes: heard, clock, cache: { ping } });
  const stop = new AbortController();
  let status = 'pending';
  const poll = (
    read = async () => status,
    endsAt?: Date,
    caller = { tenantId: 't1', name: 'ann' },
  ) =>
    waiting.wait({
      id: 'r1',
      tenantId: caller.tenantId,
      principal: caller.name,
      waitMs: POLL_WAIT_MS,
      read,
      isOver: (state) => state !== 'pending',
      endsAt: () => endsAt,
      stops: [stop.signal],
    });
  return {
    clock,
    heard,
    waiting,
    stop,
    poll,
    decide: () => {
      status = 'approved';
    },
  };
}

/** Resolves when all waiting polls sleep. */
const asleep = async (clock: { readonly sleepers: number }, count = 1) => {
  while (clock.sleepers < count) await new Promise((done) => setImmediate(done));
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
    const { clock, waiting, poll, decide, stop } = fixture({ ping });
    const answer = poll();
    await asleep(clock);
    const turning = waiting.loop.run(
      stop.signal,
      () => {},
      () => {},
    );
    await asleep(clock, 2);
    decide();
    await clock.advance(1_000);
    expect(await answer).toBe('approved');
    stop.abort();
    await turning;
  });

  it('looks again when words were missed, whatever they were about', async () => {
    const clock = fakeClock('2026-01-01T10:00:00.000Z');
    let healed = (): void => {};
    const cache: Pick<Cache, 'publish' | 'subscribe' | 'ping'> = {
      publish: async () => {},
      subscribe: async (_channel, _hear, gap) => {
        healed = gap?.healed ?? healed;
        return async () => {};
      },
      ping: async () => {},
    };
    const waiting = polls({ changes: changes(cache, silentLogger), clock, cache });
    let status = 'pending';
    const answer = waiting.wait({
      id: 'r1',
      tenantId: 't1',
      principal: 'ann',
      waitMs: POLL_WAIT_MS,
      read: async () => status,
      isOver: (state) => state !== 'pending',
      endsAt: () => undefined,
      stops: [],
    });
    await asleep(clock);
    status = 'approved';
    healed();
    expect(await answer).toBe('approved');
    expect(clock.monotonicMs()).toBe(0);
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
