import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { topicNotices } from './topic-notices.ts';

function notices() {
  const clock = fakeClock('2031-01-01T00:00:00Z');
  let hear: (payload: string | undefined) => void = () => {};
  const listen = (_channel: string, listener: typeof hear) => {
    hear = listener;
    return () => {};
  };
  const of = { topics: ['things'], types: ['thing.made', 'thing.moved'] };
  const reader = topicNotices(of, { clock, locks: { listen } });
  const stop = new AbortController();
  const wokenAt: number[] = [];
  const rest = () => reader.rest(stop.signal).then(() => wokenAt.push(clock.monotonicMs()));
  return { clock, reader, wokenAt, rest, hear: (payload: string | undefined) => hear(payload) };
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
  });

  it('wakes nobody who does not read its topic', async () => {
    const { clock, rest, hear, wokenAt } = notices();
    void rest();
    hear('others thing.made');
    await clock.advance(9999);
    expect(wokenAt).toEqual([]);
    await clock.advance(1);
    expect(wokenAt).toEqual([10_000]);
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
