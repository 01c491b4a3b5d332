import type { Cache, Clock, Logger } from '@cardea/runtime';

/** Where readers on the other side find how far a log was relayed, as a decimal string. */
export const relayPositionKey = (log: string): string => `relay:${log}`;

/**
 * Notes the relay's position in the cache, the newest one at most. A cache that is away is no reason to
 * hold up the relay: readers then wait their second and answer with what is there.
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
        // The cache tells itself that it is away.
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
