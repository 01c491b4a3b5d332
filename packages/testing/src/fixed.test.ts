import { expect, it } from 'vitest';
import { countedIds, seededRandom } from './fixed.ts';

it('counts ids that pass for UUIDs', () => {
  const ids = countedIds();
  expect([ids.next(), ids.next()]).toEqual([
    '00000000-0000-7000-8000-000000000001',
    '00000000-0000-7000-8000-000000000002',
  ]);
});

it('draws the same bytes from the same seed, and never the same twice', () => {
  const [one, two] = [seededRandom('a'), seededRandom('a')];
  const first = one.bytes(40);
  expect(first).toEqual(two.bytes(40));
  expect(first).toHaveLength(40);
  expect(one.bytes(40)).not.toEqual(first);
  expect(seededRandom('b').bytes(40)).not.toEqual(first);
});
