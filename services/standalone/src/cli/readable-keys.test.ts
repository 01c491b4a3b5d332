import type { CountedKeys } from '@cardea/service';
import { expect, it } from 'vitest';
import { readableKeys } from './readable-keys.ts';

const row = (kek_id: string, key: CountedKeys['key']): CountedKeys => ({
  table: 'identity.subject_keys',
  kek_id,
  key,
  rows: 1,
});

it('O13 doctor knows keys that services derive for themselves, and names those that nobody has', () => {
  const byDeployment = [row('a', 'current'), row('b', 'unknown'), row('c', 'unknown')];
  const byService = [row('a', 'unknown'), row('b', 'current'), row('c', 'unknown')];
  expect(readableKeys(byDeployment, byService)).toEqual({
    current: ['a', 'b'],
    previous: [],
    unknown: ['c'],
  });
});
