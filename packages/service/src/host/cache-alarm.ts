/**
 * Tells all processes to stop using their copies of the shared cache, by a notice of the database. It reaches processes
 * whose cache still answers while the process that changed something cannot write to it.
 */
import { randomUUID } from 'node:crypto';
import type { ProcessSession } from '@cardea/postgres';
import type { Database } from '@cardea/read-models';
import { type CacheAlarm, type Clock, inTurns, Outage } from '@cardea/runtime';

const CHANNEL = 'cardea_cache_alarm';
/** The time limit from sending a notice until this process, a listener like all others, has received it. */
const HEARD_MS_MAX = 2_000;

type Dependencies = {
  readonly database: Pick<Database, 'system'>;
  readonly locks: Pick<ProcessSession, 'listen'>;
  readonly clock: Pick<Clock, 'sleep'>;
};

export function cacheAlarm({ database, locks, clock }: Dependencies): CacheAlarm {
  const listeners = new Set<() => void>();
  let listening: PromiseWithResolvers<void> | undefined;
  let sent: { readonly id: string; readonly heard: () => void } | undefined;

  const notify = (id: string): Promise<unknown> =>
    database.system.query('SELECT pg_notify($1, $2)', [CHANNEL, id]);
  /** Without a payload the session has only begun to listen, so it may have missed earlier notices. */
  const hear = (payload: string | undefined): void => {
    for (const listener of [...listeners]) listener();
    if (payload === undefined) {
      listening?.resolve();
      // The process that raises the alarm waits for a notice of it, and reports a failure when none
      // arrives.
      if (sent !== undefined) notify(sent.id).catch(() => {});
    } else if (payload === sent?.id) {
      sent.heard();
      sent = undefined;
    }
  };
  const listen = (): Promise<void> => {
    if (listening === undefined) {
      listening = Promise.withResolvers();
      locks.listen(CHANNEL, hear);
    }
    return listening.promise;
  };
  const send = async (): Promise<void> => {
    await listen();
    const id = randomUUID();
    const heard = new Promise<void>((resolve) => {
      sent = { id, heard: resolve };
    });
    await notify(id);
    await heard;
  };
  return {
    raise: inTurns(async () => {
      const done = new AbortController();
      const late = clock.sleep(HEARD_MS_MAX, done.signal).then(() => {
        throw new Outage('the cache alarm was not heard in time');
      });
      try {
        await Promise.race([send(), late]);
      } finally {
        late.catch(() => {});
        done.abort();
      }
    }),
    onRaised: (listener) => {
      const own = (): void => listener();
      listeners.add(own);
      void listen();
      return () => {
        listeners.delete(own);
      };
    },
  };
}
