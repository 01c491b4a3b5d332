import { EventStoreOverloaded } from '../event-store.ts';

export type ConcurrencyLimits = {
  /** The number of tasks that run at the same time. */
  readonly underWayMax: number;
  /** The number of waiting tasks. More are refused. */
  readonly waitingMax: number;
};

/** Limits how many tasks run at the same time. The others wait in order of arrival. */
export function concurrencyLimit({ underWayMax, waitingMax }: ConcurrencyLimits) {
  const waiting: (() => void)[] = [];
  let free = underWayMax;

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--;
    else {
      if (waiting.length >= waitingMax) throw new EventStoreOverloaded('too many calls wait');
      await new Promise<void>((resolve) => void waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
