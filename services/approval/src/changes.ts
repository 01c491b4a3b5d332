/** The word that a request has changed, from whoever changed it to whoever waits for it. */
import { type Cache, CacheUnavailable, type Logger } from '@cardea/runtime';

const CHANNEL = 'approval:changed';

export type Changes = {
  /** Never throws: waiters read again by themselves when the word is lost. */
  announce(id: string, revision: number): Promise<void>;
  /** Every change in any process, from now on; those of this process even without a cache. */
  listen(heard: (id: string) => void): () => void;
  /** One subscription for the process, however many listen. Throws CacheUnavailable. */
  open(): Promise<void>;
  close(): Promise<void>;
};

export function changes(cache: Pick<Cache, 'publish' | 'subscribe'>, log: Logger): Changes {
  const listeners = new Set<(id: string) => void>();
  let leave: (() => Promise<void>) | undefined;
  const tell = (id: string): void => {
    for (const heard of listeners) heard(id);
  };
  return {
    announce: async (id, revision) => {
      tell(id);
      try {
        await cache.publish(CHANNEL, JSON.stringify({ id, revision }));
      } catch (error) {
        if (!(error instanceof CacheUnavailable)) throw error;
        log.warn({}, 'other processes were not told of a decision: the cache is away');
      }
    },
    listen: (heard) => {
      listeners.add(heard);
      return () => {
        listeners.delete(heard);
      };
    },
    open: async () => {
      leave ??= await cache.subscribe(CHANNEL, (message) => {
        const id = idIn(message);
        if (id !== undefined) tell(id);
      });
    },
    close: async () => {
      await leave?.();
      leave = undefined;
    },
  };
}

function idIn(message: string): string | undefined {
  try {
    const { id } = JSON.parse(message) as { id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined; // no word of ours
  }
}
