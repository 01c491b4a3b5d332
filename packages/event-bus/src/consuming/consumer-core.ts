import type { IntegrationEvent, IntegrationEventKind } from '@cardea/contracts';
import type { Database, Transaction } from '@cardea/read-models';
import { failpoint, type Logger, metrics, span } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import {
  type ConsumerPositions,
  consumerPositions,
  isBehind,
  type Lane,
  type LanePosition,
  laneKey,
  NOTHING_APPLIED,
} from './consumer-positions.ts';
import { type DeadLetter, type DeadLetters, deadLetterTopicOf } from './dead-letter.ts';
import { type ParkedStreams, parkedStreams, streamName } from './parked-streams.ts';
import { errorCode, isPassing } from './passing-failure.ts';
import { readable } from './readable.ts';

/**
 * Applies records of whatever adapter: their effects and how far each lane has come commit together, so
 * an event takes effect once, however often and by whomever it is brought. The rows of the lanes are
 * locked first, so a replica that had been frozen finds its records applied and does nothing.
 */
export type ConsumerCore = {
  /** Records in the order of their offsets, of one or several partitions. Throws when it must be tried again later. */
  apply(records: readonly RawRecord[], onTurn?: () => void): Promise<void>;
  /** Last applied offset of each partition, by `laneKey`. */
  offsets(): Promise<ReadonlyMap<string, LanePosition>>;
  /** Streams that wait. */
  parked(): Promise<readonly string[]>;
  /** Applies what waits of a stream, in order, and lets it flow again; throws when it fails again. */
  release(stream: string): Promise<void>;
};

/** A record as an adapter brings it, not looked into yet. */
export type RawRecord = Lane & {
  readonly offset: string;
  readonly key: string;
  readonly value: unknown;
};

export type KindOf = (
  source: string,
  type: string,
  version: number,
) => IntegrationEventKind | undefined;

export type ConsumerNeeds = {
  readonly database: Database;
  /** The service's schema, in which its positions and parked events stand. */
  readonly schema: string;
  readonly deadLetters: DeadLetters;
  readonly kindOf: KindOf;
  readonly log: Logger;
  readonly counted?: (
    what: 'applied' | 'duplicate' | 'parked' | 'dead_letter',
    consumer: string,
    count: number,
  ) => void;
};

type Opened = Lane & { readonly offset: bigint; readonly event: IntegrationEvent | undefined };
type Guilty = ReadonlyMap<Opened, string>;

const RELEASED_EVENTS_MAX = 200;

export const consumerCore = (consumer: Consumer, needs: ConsumerNeeds): ConsumerCore => {
  const positions = consumerPositions(needs.schema, consumer.name);
  const parked = parkedStreams(needs.schema, `consumer:${consumer.name}`);
  const at = { consumer, needs, positions, parked };

  const applyOrSplit = async (records: readonly Opened[], onTurn: () => void): Promise<void> => {
    onTurn();
    try {
      await applyTogether(at, records, new Map());
    } catch (error) {
      const [only] = records;
      if (only === undefined || isPassing(error)) throw error;
      if (records.length === 1) {
        await applyTogether(at, records, new Map([[only, errorCode(error)]]));
        return;
      }
      const middle = Math.ceil(records.length / 2);
      await applyOrSplit(records.slice(0, middle), onTurn);
      await applyOrSplit(records.slice(middle), onTurn);
    }
  };

  return {
    apply: async (records, onTurn = () => {}) => {
      if (records.length === 0) return;
      await applyOrSplit(await openAll(at, records), onTurn);
    },
    offsets: () => needs.database.asSystem((sql) => positions.read(sql, consumer.topics)),
    parked: () => needs.database.asSystem((sql) => parked.list(sql)),
    release: async (stream) => {
      while ((await releaseSome(at, stream)) === RELEASED_EVENTS_MAX) {}
    },
  };
};

type At = {
  readonly consumer: Consumer;
  readonly needs: ConsumerNeeds;
  readonly positions: ConsumerPositions;
  readonly parked: ParkedStreams;
};

/** Puts away what has no readable envelope; its offset still counts, so it stays in the list without an event. */
const openAll = async (at: At, records: readonly RawRecord[]): Promise<readonly Opened[]> => {
  const letters: DeadLetter[] = [];
  const opened = records.map((record): Opened => {
    const { topic, partition, offset, key, value } = record;
    const read = readable(value);
    if (read.event === undefined) {
      letters.push({ key, from: { topic, partition, offset }, faults: read.faults, value });
    }
    return { topic, partition, offset: BigInt(offset), event: read.event };
  });
  if (letters.length > 0) {
    await at.needs.deadLetters.putAway(deadLetterTopicOf(at.consumer.name), letters);
    at.needs.counted?.('dead_letter', at.consumer.name, letters.length);
    metrics.deadLetters.inc({ consumer: at.consumer.name }, letters.length);
    at.needs.log.error(
      { consumer: at.consumer.name, count: letters.length, from: letters[0]?.from },
      'records without a readable envelope were put away',
    );
  }
  return opened;
};

/** One transaction: all of these records take effect, but those of parked streams, which wait. */
const applyTogether = async (at: At, records: readonly Opened[], guilty: Guilty): Promise<void> => {
  const { consumer, needs, positions } = at;
  const applied = await needs.database.asSystem(async (transaction) => {
    const seen = await positions.lock(transaction, lanesOf(records));
    const fresh = advance(records, seen);
    needs.counted?.('duplicate', consumer.name, records.length - fresh.length);
    metrics.consumerDuplicates.inc({ consumer: consumer.name }, records.length - fresh.length);
    const events = await keepBack(at, transaction, fresh, guilty);
    if (events.length > 0) await handled(consumer, events, transaction);
    await positions.store(transaction, movedOf(records, seen));
    await failpoint('consumer.before_commit');
    return events;
  });
  await failpoint('consumer.after_commit');
  needs.counted?.('applied', consumer.name, applied.length);
  if (applied.length > 0) consumer.onCommitted?.(applied);
};

const handled = (
  consumer: Consumer,
  events: readonly IntegrationEvent[],
  transaction: Transaction,
): Promise<void> =>
  span('consume', () => consumer.handle(events, transaction), {
    attributes: { consumer: consumer.name, events: events.length },
    links: events.map(({ traceparent }) => traceparent),
  });

const lanesOf = (records: readonly Opened[]): readonly Lane[] => {
  const lanes = new Map<string, Lane>();
  for (const record of records) {
    lanes.set(laneKey(record), { topic: record.topic, partition: record.partition });
    const own = positionLane(record);
    lanes.set(laneKey(own), own);
  }
  return [...lanes.values()];
};

/** Where a record's source position counts: in its partition, or for a stream that was held back, by itself. */
const positionLane = ({ topic, partition, event }: Opened): Lane =>
  event?.released === true
    ? { topic: `${topic}#${streamName(event)}`, partition }
    : { topic, partition };

/** Moves the lanes over the records and answers those that were not seen before. */
const advance = (records: readonly Opened[], seen: Map<string, LanePosition>): readonly Opened[] =>
  records.filter((record) => {
    const partition = laneKey(record);
    const before = seen.get(partition) ?? NOTHING_APPLIED;
    seen.set(partition, { ...before, offset: max(before.offset, record.offset) });
    if (record.event === undefined) return false;
    const lane = laneKey(positionLane(record));
    const last = seen.get(lane) ?? NOTHING_APPLIED;
    if (!isBehind(record.event, last)) return false;
    const { position, part = 0 } = record.event;
    seen.set(lane, { ...last, position: BigInt(position), part });
    return true;
  });

const movedOf = (records: readonly Opened[], seen: Map<string, LanePosition>) =>
  lanesOf(records).map((lane) => ({ ...lane, ...(seen.get(laneKey(lane)) ?? NOTHING_APPLIED) }));

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Parks what is guilty or waits behind it; answers the events that the consumer shall see. */
const keepBack = async (
  at: At,
  transaction: Transaction,
  fresh: readonly Opened[],
  guilty: Guilty,
): Promise<readonly IntegrationEvent[]> => {
  const { consumer, needs, parked } = at;
  const waiting = await parked.among(transaction, [
    ...new Set(fresh.flatMap(({ event }) => (event === undefined ? [] : [streamName(event)]))),
  ]);
  const toPark: { readonly event: IntegrationEvent; readonly errorCode: string | null }[] = [];
  const toHandle: IntegrationEvent[] = [];
  for (const record of fresh) {
    const { event } = record;
    if (event === undefined || !isWanted(consumer, event)) continue;
    const stream = streamName(event);
    const code = waiting.has(stream) ? null : (guilty.get(record) ?? misfit(needs.kindOf, event));
    if (code === undefined) {
      toHandle.push(event);
      continue;
    }
    waiting.add(stream);
    toPark.push({ event, errorCode: code });
  }
  if (toPark.length > 0) await parked.park(transaction, toPark);
  for (const { event, errorCode: code } of toPark) {
    if (code === null) continue;
    needs.counted?.('parked', consumer.name, 1);
    needs.log.error(
      { consumer: consumer.name, type: event.type, position: event.position, code },
      'an event could not be applied, its stream is parked',
    );
  }
  return toHandle;
};

const isWanted = (consumer: Consumer, event: IntegrationEvent): boolean =>
  consumer.types === undefined || consumer.types.includes(event.type);

/** Types that this release does not know are the consumer's own business; known ones must fit. */
const misfit = (kindOf: KindOf, event: IntegrationEvent): string | undefined => {
  const kind = kindOf(event.source, event.type, event.schemaVersion);
  return kind === undefined || kind.canBeRead(event.data) ? undefined : 'schema';
};

/**
 * One transaction over the first events that wait. Whoever applies records looks for parked streams in
 * a transaction that holds the partition's row, so this one holds that row too.
 */
const releaseSome = async (at: At, stream: string): Promise<number> => {
  const { consumer, needs, positions, parked } = at;
  const events = await needs.database.asSystem(async (transaction) => {
    await positions.lockAll(transaction);
    const waiting = await parked.waiting(transaction, stream, RELEASED_EVENTS_MAX);
    if (waiting.length > 0) await consumer.handle(waiting, transaction);
    await parked.forget(transaction, waiting);
    return waiting;
  });
  if (events.length > 0) consumer.onCommitted?.(events);
  return events.length;
};
