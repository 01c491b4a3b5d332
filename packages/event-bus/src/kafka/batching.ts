import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pacing } from '@cardea/runtime';
import type { Looked } from '../consuming/records.ts';

/**
 * Applies records that arrive from several partitions at the same time in one transaction, because a commit costs the
 * same for one record as for a thousand.
 */
export type Batching = (looked: Looked) => Promise<void>;

export const batching = (pace: Pacing, apply: Batching): Batching => {
  let waiting: Waiting[] = [];
  let applying = false;

  const applyAll = async (): Promise<void> => {
    applying = true;
    // The batches of one fetch response are delivered one after another within this turn of the event loop.
    await nextTurn();
    for (let isFull = false; waiting.length > 0; ) {
      // Records that do not fit into one batch have waited already.
      if (!isFull) await pace.next();
      const taken = take();
      isFull = waiting.length > 0;
      try {
        await apply({
          records: taken.flatMap(({ looked }) => looked.records),
          skipped: taken.flatMap(({ looked }) => looked.skipped),
        });
        for (const { done } of taken) done();
      } catch (error) {
        for (const { failed } of taken) failed(error);
      }
    }
    applying = false;
  };
  const take = (): readonly Waiting[] => {
    let count = 0;
    const end = waiting.findIndex(({ looked }) => {
      count += looked.records.length;
      return count > TOGETHER_RECORDS_MAX;
    });
    const taken = waiting.slice(0, end < 0 ? waiting.length : Math.max(end, 1));
    waiting = waiting.slice(taken.length);
    return taken;
  };
  return (looked) =>
    new Promise((done, failed) => {
      waiting.push({ looked, done, failed });
      if (!applying) void applyAll();
    });
};

type Waiting = {
  readonly looked: Looked;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

const TOGETHER_RECORDS_MAX = 1000;
