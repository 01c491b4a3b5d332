/**
 * At most a few passwords are hashed at once; others wait in a queue for a short while, and are refused
 * when the queue is full. A permit belongs to the job: it is kept until the hash has ended, even if the
 * client has disconnected.
 */
import { Overloaded } from '@cardea/http';
import type { Clock } from '@cardea/runtime';

export const HASH_QUEUE_MAX = 64;
export const HASH_WAIT_MAX_MS = 2_000;

type Waiting = { readonly start: () => void };

export type HashLimit = {
  readonly pass: <T>(job: () => Promise<T>) => Promise<T>;
  /** Jobs in the queue, for metrics. */
  readonly waiting: () => number;
};

export function hashLimit(concurrency: number, clock: Pick<Clock, 'sleep'>): HashLimit {
  let running = 0;
  const line: Waiting[] = [];

  const admitted = async (): Promise<void> => {
    if (running < concurrency) {
      running += 1;
      return;
    }
    if (line.length >= HASH_QUEUE_MAX) throw new Overloaded('the line for password hashes is full');
    await inLine();
  };

  const inLine = () =>
    new Promise<void>((resolve, reject) => {
      const timeout = new AbortController();
      const waiting: Waiting = {
        start: () => {
          timeout.abort();
          resolve();
        },
      };
      line.push(waiting);
      void clock.sleep(HASH_WAIT_MAX_MS, timeout.signal).then(() => {
        if (timeout.signal.aborted) return;
        line.splice(line.indexOf(waiting), 1);
        reject(new Overloaded('waited too long for a password hash'));
      });
    });

  const leave = (): void => {
    const next = line.shift();
    if (next === undefined) running -= 1;
    else next.start();
  };

  return {
    pass: async (job) => {
      await admitted();
      try {
        return await job();
      } finally {
        leave();
      }
    },
    waiting: () => line.length,
  };
}
