/** The word that a request has changed, from whoever changed it to whoever waits for it. */
import { type Cache, CacheUnavailable, type Logger } from '@cardea/runtime';

const CHANNEL = 'approval:changed';

export type Changes = {
  /** Never throws: waiters read again by themselves when the word is lost. */
  announce(id: string, revision: number): Promise<void>;
  /**
   * Every change in any process, from now on; those of this process even without a cache. Undefined:
   * words were missed, so any may have changed.
   */
  listen(heard: (id: string | undefined) => void): () => void;
  /** One subscription for the process, however many listen. Throws CacheUnavailable once that is closed. */
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
        // The cache tells itself that it is away; a line per decision would add nothing.
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
    return undefined; // no word of ours
  }
}
