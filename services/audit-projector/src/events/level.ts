/**
 * Lets clients see their own writes. Before a first page or an export is read, the request waits until every log is
 * relayed up to its end at the time of the request, and then until ingest has passed the topics' ends of that time.
 * These ends are read once, because they move with every write.
 */
import { SERVICE_NAMES } from '@cardea/contracts';
import { relayPositionKey } from '@cardea/event-bus';
import { CacheUnavailable } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { TOPICS } from './ingest.consumer.ts';
import type { IngestProgress } from './ingest-progress.ts';
import { shared } from './shared.ts';

const WAIT_MS = 1000;
const RELAY_LOOK_MS = 15;
/** The usual delay of a relay, used if the cache does not have its position. */
const RELAY_MS = 300;

type Dependencies = Pick<ServiceDependencies, 'clock'> & {
  readonly store: Pick<ServiceDependencies['store'], 'head'>;
  readonly bus: Pick<ServiceDependencies['bus'], 'ends'>;
  readonly cache: Pick<ServiceDependencies['cache'], 'getMany'>;
  readonly progress: Pick<IngestProgress, 'untilPassed'>;
};

/** Resolves after at most a second. The page then shows what was ingested by that time. */
export type UntilLevel = () => Promise<void>;

export function untilLevel({ store, bus, cache, clock, progress }: Dependencies): UntilLevel {
  const readHeads = shared(() =>
    Promise.all(
      // An unreachable log is not waited for.
      SERVICE_NAMES.map((log) => store.head(log).catch(() => 0n)),
    ),
  );
  const readEnds = shared(() => bus.ends(TOPICS));
  const readNotes = shared(() => cache.getMany(SERVICE_NAMES.map(relayPositionKey)));
  const isRelayed = async (heads: readonly bigint[]): Promise<boolean> => {
    const notes = await readNotes();
    return notes.every((note, index) => BigInt(note ?? 0) >= (heads[index] ?? 0n));
  };
  const untilRelayed = async (heads: readonly bigint[], inTime: () => boolean): Promise<void> => {
    try {
      while (!(await isRelayed(heads)) && inTime()) await clock.sleep(RELAY_LOOK_MS);
    } catch (error) {
      if (!(error instanceof CacheUnavailable)) throw error;
      await clock.sleep(RELAY_MS);
    }
  };
  const level = async (inTime: () => boolean): Promise<void> => {
    const heads = await readHeads();
    await untilRelayed(heads, inTime);
    if (inTime()) await progress.untilPassed(await readEnds(), inTime);
  };
  return async () => {
    const waited = new AbortController();
    const inTime = (): boolean => !waited.signal.aborted;
    // If the topics cannot be reached, the page shows what was ingested so far.
    const isLevel = level(inTime).catch(() => undefined);
    await Promise.race([isLevel, clock.sleep(WAIT_MS, waited.signal)]);
    waited.abort();
  };
}
