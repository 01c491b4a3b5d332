import { WriteContention } from './event-store.ts';

/** Commands that may wait for one stream in one process; more answer `write_contention`. */
const WAITING_MAX = 256;

/** Lets one piece of work per name run at a time, in the order of asking. */
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
    line.tail = mine.catch(() => {}); // whoever asked hears of the failure; the next one goes on
    return mine;
  };
}
