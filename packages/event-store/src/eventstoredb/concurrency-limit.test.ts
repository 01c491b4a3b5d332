import { expect, it } from 'vitest';
import { EventStoreOverloaded } from '../event-store.ts';
import { concurrencyLimit } from './concurrency-limit.ts';

it('so many run, so many wait in order, and more are refused', async () => {
  const run = concurrencyLimit({ underWayMax: 2, waitingMax: 1 });
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const work = (n: number) => () => {
    started.push(n);
    return new Promise<void>((resolve) => void ends.push(resolve));
  };
  const all = [run(work(1)), run(work(2)), run(work(3))];
  await expect(run(work(4))).rejects.toThrow(EventStoreOverloaded);
  expect(started).toEqual([1, 2]);
  ends.shift()?.();
  await all[0];
  expect(started).toEqual([1, 2, 3]);
  for (const end of ends) end();
  await Promise.all(all);
});
