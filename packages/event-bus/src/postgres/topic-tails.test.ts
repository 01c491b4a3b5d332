import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { type SentRecord, topicTails } from './topic-tails.ts';

const LANE = { topic: 'things', partition: 3 };
const record = (offset: number, partition = LANE.partition): SentRecord => ({
  ...{ topic: LANE.topic, partition, offset: BigInt(offset) },
  ...{ key: 'k', type: 'thing.made', position: String(offset), part: 0 },
  value: () => ({ offset }),
});
const START = '2031-01-01T00:00:00Z';
const newTails = () => topicTails(fakeClock(START));
const records = (from: number, to: number, partition?: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => record(from + index, partition));

describe('the tail of a topic', () => {
  const offsetsAfter = (tails: ReturnType<typeof topicTails>, next: bigint) =>
    tails.after(LANE, next)?.map(({ offset }) => Number(offset));

  it('has what was published here, from the offset that is wanted', () => {
    const tails = newTails();
    expect(offsetsAfter(tails, 0n)).toEqual([]);
    tails.published('things', [...records(5, 6), ...records(0, 9, 4), record(7)]);
    expect(offsetsAfter(tails, 5n)).toEqual([5, 6, 7]);
    expect(offsetsAfter(tails, 7n)).toEqual([7]);
    expect(offsetsAfter(tails, 8n)).toEqual([]);
    expect(offsetsAfter(tails, 20n)).toEqual([]);
  });

  it('sends whoever is further back to the table', () => {
    const tails = newTails();
    tails.published('things', records(5, 6));
    expect(offsetsAfter(tails, 4n)).toBeUndefined();
  });

  it('sends to the table where others have published in between', () => {
    const tails = newTails();
    tails.published('things', records(5, 6));
    tails.published('things', records(8, 9));
    expect(offsetsAfter(tails, 7n)).toBeUndefined();
    expect(offsetsAfter(tails, 8n)).toEqual([8, 9]);
  });

  it('is not set back by an answer that comes late', () => {
    const tails = newTails();
    tails.published('things', records(7, 8));
    tails.published('things', records(5, 6));
    expect(offsetsAfter(tails, 5n)).toBeUndefined();
    expect(offsetsAfter(tails, 7n)).toEqual([7, 8]);
  });

  it('keeps the last ones of all partitions, and knows what it has forgotten', () => {
    const tails = newTails();
    tails.published('things', records(0, 2));
    tails.published('things', records(0, 2047, 4));
    expect(offsetsAfter(tails, 2n)).toBeUndefined();
    expect(offsetsAfter(tails, 3n)).toEqual([]);
    tails.published('things', [record(3)]);
    expect(offsetsAfter(tails, 3n)).toEqual([3]);
    expect(tails.after({ ...LANE, partition: 4 }, 0n)).toBeUndefined();
    expect(tails.after({ ...LANE, partition: 4 }, 1n)).toHaveLength(2047);
  });

  it('forgets what everybody has had the time to read', async () => {
    const clock = fakeClock(START);
    const tails = topicTails(clock);
    tails.published('things', records(0, 2));
    await clock.advance(1_999);
    tails.published('things', [record(3)]);
    expect(offsetsAfter(tails, 0n)).toEqual([0, 1, 2, 3]);
    await clock.advance(1);
    tails.published('things', [record(4)]);
    expect(offsetsAfter(tails, 2n)).toBeUndefined();
    expect(offsetsAfter(tails, 3n)).toEqual([3, 4]);
  });
});
