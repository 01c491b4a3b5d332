import type { Cache, Clock, Logger } from '@cardea/runtime';

/** The cache key under which other processes find a relay's position, as a decimal string. */
export const relayPositionKey = (log: string): string => `relay:${log}`;

/**
 * Writes the relay's position to the cache. A newer one replaces one that is not written yet. An unavailable cache does
 * not stop the relay: readers then wait up to a second and continue with what was ingested.
 */
export type PositionNote = { write(position: bigint): void; settled(): Promise<void> };

export const positionNote = (
  cache: Pick<Cache, 'set'>,
  { log, name, clock }: { readonly log: Logger; readonly name: string; readonly clock: Clock },
): PositionNote => {
  let newest: bigint | undefined;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (newest !== undefined) {
      const position = newest;
      newest = undefined;
      try {
        await cache.set(relayPositionKey(name), String(position));
      } catch {
        // The cache itself logs its outages, so this is logged at debug level only.
        log.debug({ loop: `relay:${name}` }, 'the cache takes no position');
        await clock.sleep(FAILED_PAUSE_MS);
      }
    }
    writing = undefined;
  };
  return {
    write: (position) => {
      newest = position;
      writing ??= writeAll();
    },
    settled: async () => {
      newest = undefined;
      await writing;
    },
  };
};

const FAILED_PAUSE_MS = 500;
