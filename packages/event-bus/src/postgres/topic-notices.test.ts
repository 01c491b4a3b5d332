import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import type { Consumer } from '../bus.ts';
import { topicNotices } from './topic-notices.ts';
import { type SentRecord, topicTails } from './topic-tails.ts';

const record = (type: string): SentRecord => ({
  ...{ topic: 'things', partition: 0, offset: 0n, key: 'k', type, position: '1', part: 0 },
  value: () => ({}),
});

function notices(isUrgent?: Consumer['isUrgent']) {
  const clock = fakeClock('2031-01-01T00:00:00Z');
  let hear: (payload: string | undefined) => void = () => {};
  const listen = (_channel: string, listener: typeof hear) => {
    hear = listener;
    return () => {};
  };
  const types = ['thing.made', 'thing.moved'];
  const of = { topics: ['things'], types, ...(isUrgent && { isUrgent }) };
  const tails = topicTails(clock);
  const reader = topicNotices(of, { clock, locks: { listen }, tails });
  reader.unread(); // At first nothing was read.
  const stop = new AbortController();
  const wokenAt: number[] = [];
  const rest = () => reader.rest(stop.signal).then(() => wokenAt.push(clock.monotonicMs()));
  return {
    clock,
    reader,
    tails,
    wokenAt,
    rest,
    hear: (payload: string | undefined) => hear(payload),
  };
}

describe('the notice of a publish', () => {
  it.each([
    ['names a type that is handled', 'things thing.made thing.other'],
    ['names no types', 'things'],
    ['may have been missed', undefined],
  ])('wakes a reader at once when it %s', async (_when, payload) => {
    const { clock, rest, hear, wokenAt, reader } = notices();
    void rest();
    hear(payload);
    await clock.advance(0);
    expect(wokenAt).toEqual([0]);
    expect(reader.isLate()).toBe(false);
    expect([...reader.unread()]).toEqual(['things']);
    expect([...reader.unread()]).toEqual([]);
  });

  it('wakes nobody when it is of this process, whose records wake by themselves', async () => {
    const { clock, rest, hear, wokenAt, tails, reader } = notices();
    void rest();
    hear(`things thing.made ${tails.publisher}`);
    await clock.advance(5000);
    expect(wokenAt).toEqual([]);
    tails.published('things', [record('thing.other')]);
    await clock.advance(999);
    expect(wokenAt).toEqual([]);
    tails.published('things', [record('thing.made')]);
    await clock.advance(0);
    expect(wokenAt).toEqual([5999]);
    expect([...reader.unread()]).toEqual([]);
  });

  it('counts as another process’s when a publish of this process may have failed', async () => {
    const { clock, rest, hear, wokenAt, tails, reader } = notices();
    const { publisher } = tails;
    void rest();
    tails.uncertain('things');
    await clock.advance(0);
    expect(wokenAt).toEqual([0]);
    expect([...reader.unread()]).toEqual(['things']);
    hear(`things thing.made ${publisher}`); // The publish has committed after all.
    expect([...reader.unread()]).toEqual(['things']);
  });

  it('wakes nobody who does not read its topic', async () => {
    const { clock, rest, hear, wokenAt, reader } = notices();
    void rest();
    hear('others thing.made');
    await clock.advance(9999);
    expect(wokenAt).toEqual([]);
    expect([...reader.unread()]).toEqual([]);
    await clock.advance(1);
    expect(wokenAt).toEqual([10_000]);
    expect([...reader.unread()]).toEqual(['things']);
  });

  it('wakes once a second who has time for what it tells of', async () => {
    const isUrgent = ({ type, tenantId }: { type: string; tenantId?: string }) =>
      type === 'thing.made' && tenantId !== 'calm';
    const { clock, rest, tails, wokenAt, reader, hear } = notices(isUrgent);
    void rest();
    tails.published('things', [record('thing.moved'), { ...record('thing.made'), key: 'calm:k' }]);
    await clock.advance(999);
    expect(wokenAt).toEqual([]);
    await clock.advance(1);
    expect(wokenAt).toEqual([1000]);
    expect(reader.isLate()).toBe(true);
    for (const tell of [
      () => tails.published('things', [{ ...record('thing.made'), key: 'busy:k' }]),
      () => hear('things thing.made'), // The tenant is unknown here.
    ]) {
      void rest();
      tell();
      await clock.advance(0);
    }
    expect(wokenAt).toEqual([1000, 1000, 1000]);
    expect(reader.isLate()).toBe(false);
  });

  it('wakes who handles none of its types once a second', async () => {
    const { clock, rest, hear, wokenAt, reader } = notices();
    void rest();
    hear('things thing.other');
    await clock.advance(500);
    hear('things thing.other');
    await clock.advance(499);
    expect(wokenAt).toEqual([]);
    await clock.advance(1);
    expect(wokenAt).toEqual([1000]);
    expect(reader.isLate()).toBe(true);
    void rest();
    await clock.advance(5000);
    expect(wokenAt).toEqual([1000]);
  });
});
