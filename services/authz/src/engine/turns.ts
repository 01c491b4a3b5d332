import { type Clock, FairQueue, type FairQueueForm, type GiveBack } from '@cardea/runtime';
import { ClientGone, type Work } from './work.ts';

/**
 * Turns for work that takes long: so much at once, and so much that waits, shared fairly between tenants.
 * `overloaded` where the work was not begun, because too much waits already or the request has waited too long.
 * Throws {@link ClientGone} where it was not begun because nobody waits for it any more.
 */
export type Turns = <T>(of: Work, work: () => Promise<T>) => Promise<T | 'overloaded'>;

export function turns(form: FairQueueForm, clock: Pick<Clock, 'after' | 'monotonicMs'>): Turns {
  const queue = new FairQueue(form, clock);
  return async (of, work) => {
    of.expectClient();
    const giveBack = queue.takeNow(of.tenantId) ?? (await itsTurn(queue, of, clock));
    if (giveBack === undefined) return 'overloaded';
    try {
      of.expectClient();
      return await work();
    } finally {
      giveBack();
    }
  };
}

/** Undefined where the request has waited too long, for this turn or for all of its turns. */
async function itsTurn(
  queue: FairQueue,
  of: Work,
  clock: Pick<Clock, 'after' | 'monotonicMs'>,
): Promise<GiveBack | undefined> {
  const startMs = clock.monotonicMs();
  const ended = Promise.withResolvers<undefined>();
  const cancel = clock.after(of.waitLeftMs, () => ended.resolve(undefined));
  const stay = of.whenAbandoned(() => ended.reject(new ClientGone()));
  const place = queue.take(of.tenantId);
  let taken: GiveBack | undefined;
  try {
    taken = await Promise.race([place, ended.promise]);
    return taken;
  } finally {
    cancel();
    stay();
    of.waited(clock.monotonicMs() - startMs);
    // A place that comes too late goes to the next.
    if (taken === undefined) void place.then((late) => late?.());
  }
}
