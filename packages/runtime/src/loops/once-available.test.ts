import { expect, test } from 'vitest';
import { Outage } from '../outage.ts';
import { onceAvailable } from './once-available.ts';

const failing = (times: number, error: Error) => {
  let calls = 0;
  const work = async (): Promise<number> => {
    calls += 1;
    if (calls <= times) throw error;
    return calls;
  };
  return { work, calls: () => calls };
};

test('work is repeated while what it needs is away', async () => {
  const pauses: number[] = [];
  const { work } = failing(3, new Outage('busy'));
  await expect(onceAvailable(work, async (ms) => void pauses.push(ms))).resolves.toBe(4);
  expect(pauses).toEqual([1_000, 1_000, 1_000]);
});

test('any other error ends it at once', async () => {
  const { work, calls } = failing(1, new Error('wrong key'));
  await expect(onceAvailable(work, async () => {})).rejects.toThrow('wrong key');
  expect(calls()).toBe(1);
});

test('what stays away is reported', async () => {
  const { work, calls } = failing(Number.POSITIVE_INFINITY, new Outage('still busy'));
  await expect(onceAvailable(work, async () => {})).rejects.toThrow('still busy');
  expect(calls()).toBe(15);
});
