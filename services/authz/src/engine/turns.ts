import { type Clock, FairQueue, type FairQueueForm, type GiveBack } from '@cardea/runtime';
import { ClientGone, type Work } from './work.ts';

/**
 * Limits concurrent long work and waiting work, in turns between tenants. Returns `overloaded` if the work was not
 * started, because too much is waiting or the request has waited too long. Throws {@link ClientGone} if the client
 * disconnected before the start.
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

/** Returns undefined if the request has waited too long, for this turn or for all of its turns. */
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
    // A place that arrives too late is passed on to the next request.
    if (taken === undefined) void place.then((late) => late?.());
  }
}
