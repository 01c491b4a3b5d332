/**
 * Notifications that a request has changed. The process that changed it sends them to the processes with waiting polls.
 */
import { type Cache, CacheUnavailable, type Logger } from '@cardea/runtime';

const CHANNEL = 'approval:changed';

export type Changes = {
  /** Never throws. If the notification is lost, waiting polls read the request again at the next interval. */
  announce(id: string, revision: number): Promise<void>;
  /**
   * Calls `heard` for every change in any process from now on. Without a cache, it reports only changes of this
   * process. Undefined means that notifications were missed, so any request may have changed.
   */
  listen(heard: (id: string | undefined) => void): () => void;
  /**
   * Opens one subscription per process, for any number of listeners. Throws CacheUnavailable after the subscription is
   * closed.
   */
  open(): Promise<void>;
  close(): Promise<void>;
};

export function changes(cache: Pick<Cache, 'publish' | 'subscribe'>, log: Logger): Changes {
  const listeners = new Set<(id: string | undefined) => void>();
  let opened: Promise<() => Promise<void>> | undefined;
  const tell = (id: string | undefined): void => {
    for (const heard of listeners) heard(id);
  };
  const hear = (message: string): void => {
    const id = idIn(message);
    if (id !== undefined) tell(id);
  };
  return {
    announce: async (id, revision) => {
      tell(id);
      try {
        await cache.publish(CHANNEL, JSON.stringify({ id, revision }));
      } catch (error) {
        if (!(error instanceof CacheUnavailable)) throw error;
        // The cache client logs the outage itself. A line per decision would add nothing.
        log.debug({}, 'other processes were not told of a decision');
      }
    },
    listen: (heard) => {
      listeners.add(heard);
      return () => {
        listeners.delete(heard);
      };
    },
    open: async () => {
      opened ??= cache.subscribe(CHANNEL, hear, { lost: () => {}, healed: () => tell(undefined) });
      await opened;
    },
    close: async () => {
      const leave = await opened?.catch(() => undefined);
      opened = undefined;
      await leave?.();
    },
  };
}

function idIn(message: string): string | undefined {
  try {
    const { id } = JSON.parse(message) as { id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined; // The message is not one of ours.
  }
}
