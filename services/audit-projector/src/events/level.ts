/**
 * A client sees what it did: before a first page or an export is read, it waits until every log was
 * relayed as far as it reached at the request, and the topics were applied as far as they reached then.
 */
import { SERVICE_NAMES } from '@cardea/contracts';
import { relayPositionKey } from '@cardea/event-bus';
import { CacheUnavailable } from '@cardea/runtime';
import type { ServiceNeeds } from '@cardea/service';
import { INGEST, TOPICS } from './ingest.consumer.ts';

const WAIT_MS = 1000;
const LOOK_MS = 15;
/** What a relay usually needs, where the cache does not tell how far it is. */
const RELAY_MS = 300;

type Needs = Pick<ServiceNeeds, 'clock'> & {
  readonly store: Pick<ServiceNeeds['store'], 'head'>;
  readonly bus: Pick<ServiceNeeds['bus'], 'isLevel'>;
  readonly cache: Pick<ServiceNeeds['cache'], 'getMany'>;
};

/** Returns after a second at the latest; then what is there is served. */
export type UntilLevel = () => Promise<void>;

export function untilLevel({ store, bus, cache, clock }: Needs): UntilLevel {
  const readHeads = shared(() => Promise.all(SERVICE_NAMES.map((log) => store.head(log))));
  const isApplied = shared(() => bus.isLevel(INGEST, TOPICS));
  const isRelayed = async (heads: readonly bigint[]): Promise<boolean> => {
    const notes = await cache.getMany(SERVICE_NAMES.map(relayPositionKey));
    return notes.every((note, index) => BigInt(note ?? 0) >= (heads[index] ?? 0n));
  };
  const untilRelayed = async (heads: readonly bigint[], inTime: () => boolean): Promise<void> => {
    try {
      while (!(await isRelayed(heads)) && inTime()) await clock.sleep(LOOK_MS);
    } catch (error) {
      if (!(error instanceof CacheUnavailable)) throw error;
      await clock.sleep(RELAY_MS);
    }
  };
  return async () => {
    const deadline = clock.monotonicMs() + WAIT_MS;
    const inTime = (): boolean => clock.monotonicMs() < deadline;
    try {
      const heads = await readHeads();
      await untilRelayed(heads, inTime);
      while (!(await isApplied()) && inTime()) await clock.sleep(LOOK_MS);
    } catch {
      // A log or the topics are out of reach: the page shows what was ingested before.
    }
  };
}

/**
 * One read for all who ask while another is under way. It starts after each of them asked, so none gets
 * an answer that is older than its question.
 */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const answer = read();
      running = answer.catch(() => undefined);
      return answer;
    });
    return next;
  };
}
