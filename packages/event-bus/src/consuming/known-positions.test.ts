import { describe, expect, it } from 'vitest';
import { laneKey } from './consumer-positions.ts';
import { knownPositions } from './known-positions.ts';

const TOPIC = 'things';
const lane = (partition: number) => ({ topic: TOPIC, partition });
const record = (partition: number, offset: bigint) => ({
  ...lane(partition),
  offset,
  event: undefined,
});
const at = (offset: bigint, position: bigint) => ({ offset, position, part: 0 });
const seenOf = (positions: ReadonlyMap<string, unknown> | undefined) => positions && [...positions];

function known() {
  const positions = knownPositions([TOPIC]);
  positions.learn([TOPIC], { seen: new Map([[laneKey(lane(1)), at(4n, 9n)]]), parked: [] });
  return positions;
}

describe('what a consumer knows of its positions', () => {
  it('is nothing before the tables were read', () => {
    expect(knownPositions([TOPIC]).before([record(1, 5n)])).toBeUndefined();
  });

  it('is what was read, and the beginning where there is no row', () => {
    expect(seenOf(known().before([record(1, 5n), record(2, 0n)])?.seen)).toEqual([
      ['things/1', at(4n, 9n)],
      ['things/2', at(-1n, 0n)],
    ]);
  });

  it('rises with what this process has committed, and never falls', () => {
    const positions = known();
    positions.moved([{ ...lane(1), ...at(7n, 12n) }]);
    positions.moved([{ ...lane(1), ...at(5n, 11n) }]);
    expect(seenOf(positions.before([record(1, 8n)])?.seen)).toEqual([['things/1', at(7n, 12n)]]);
  });

  it('is nothing while a stream is parked', () => {
    const positions = known();
    positions.learn([TOPIC], { seen: new Map(), parked: ['acme:thing-1'] });
    expect(positions.before([record(1, 5n)])).toBeUndefined();
  });

  it('keeps no stream that is sent late', () => {
    const positions = known();
    const late = { topic: `${TOPIC}#thing-1`, partition: 1 };
    positions.learn([late.topic], { seen: new Map([[laneKey(late), at(1n, 1n)]]), parked: [] });
    expect(positions.before([{ ...late, offset: 2n, event: undefined }])).toBeUndefined();
  });
});
