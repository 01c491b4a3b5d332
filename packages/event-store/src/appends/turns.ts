import { WriteContention } from '../event-store.ts';

/** The most commands that may wait for one stream in one process. More are refused with `write_contention`. */
const WAITING_MAX = 256;

/** Runs one piece of work per name at a time, in order of arrival. */
export function turns(waitingMax: number = WAITING_MAX) {
  const lines = new Map<string, { length: number; tail: Promise<unknown> }>();

  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(name) ?? { length: 0, tail: Promise.resolve() };
    if (line.length > waitingMax) throw new WriteContention(`too many commands wait for ${name}`);
    lines.set(name, line);
    line.length++;
    const mine = line.tail.then(work).finally(() => {
      line.length--;
      if (line.length === 0) lines.delete(name);
    });
    line.tail = mine.catch(() => {}); // The caller gets the error. The next piece of work runs anyway.
    return mine;
  };
}
