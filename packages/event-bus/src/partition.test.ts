import { expect, test } from 'vitest';
import { keyOf, murmur2, partitionOf } from './partition.ts';

/** Pairs from the tests of Kafka's own client. */
const KNOWN: readonly (readonly [string, number])[] = [
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
];

test.each(KNOWN)('the hash of %s is the one that Kafka has', (text, hash) => {
  expect(murmur2(Buffer.from(text))).toBe(hash);
});

test('a thousand streams spread over all twelve partitions', () => {
  const counts = new Map<number, number>();
  for (let index = 0; index < 1000; index += 1) {
    const partition = partitionOf(keyOf({ tenantId: 't', streamId: `user-${index}` }));
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(Math.min(...counts.values())).toBeGreaterThan(40);
});
