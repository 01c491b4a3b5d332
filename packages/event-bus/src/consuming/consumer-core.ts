import type { IntegrationEvent, IntegrationEventKind } from '@cardea/contracts';
import { errorCode, isOutage, type ParkedOwner, park, parkedPositions } from '@cardea/log-follower';
import type { Database, Transaction } from '@cardea/read-models';
import { failpoint, type Logger, metrics, span } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import {
  type ConsumerPositions,
  consumerPositions,
  type Lane,
  type LanePosition,
  offsetsOf,
} from './consumer-positions.ts';
import { type DeadLetter, type DeadLetters, deadLetterTopicOf } from './dead-letter.ts';
import { advance, lanesOf, movedOf, type Opened, topicsOf } from './lane-moves.ts';
import { readable } from './readable.ts';
import { type Halves, inTwoHalves, MovedMeanwhile } from './two-halves.ts';
import { firstWaiting, forgetWaiting, streamName, waitingEvent } from './waiting-events.ts';

/**
 * Applies records of any adapter. Effects and positions of the lanes commit together, so an event takes
 * effect once, however often and by whichever replica it is delivered. The lanes' rows are locked first, so
 * a replica that was suspended finds its records already applied and does nothing. Work that needs more
 * than the transaction's connection is prepared before, and again when more events have become due.
 */
export type ConsumerCore = {
  /** Records in order of offset, of one or several partitions. Throws when they have to be tried again. */
  apply(records: readonly RawRecord[], onTurn?: () => void): Promise<void>;
  /** Last applied offset of each partition, by `laneKey`. */
  offsets(): Promise<ReadonlyMap<string, LanePosition>>;
  /** Names of the parked streams. */
  parked(): Promise<readonly string[]>;
  /** Applies a parked stream's events in order and ends its parking; throws when one of them fails again. */
  release(stream: string): Promise<void>;
};

/** A record from an adapter, not parsed yet. */
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

export type ConsumerDependencies = {
  readonly database: Database;
  /** The service's schema, with its positions and parked events. */
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

type Guilty = ReadonlyMap<Opened, string>;

const RELEASED_EVENTS_MAX = 200;

export const consumerCore = (consumer: Consumer, needs: ConsumerDependencies): ConsumerCore => {
  const positions = consumerPositions(needs.schema, consumer.name);
  const parked = { schema: needs.schema, owner: `consumer:${consumer.name}` };
  const at = { consumer, needs, positions, parked };

  const applyOrSplit = async (records: readonly Opened[], onTurn: () => void): Promise<void> => {
    onTurn();
    try {
      await applyTogether(at, records, new Map());
    } catch (error) {
      const [only] = records;
      if (only === undefined || isOutage(error)) throw error;
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
    parked: async () => [...(await parkedPositions(needs.database.system, parked)).keys()],
    release: async (stream) => {
      while ((await releaseSome(at, stream)) === RELEASED_EVENTS_MAX) {}
    },
  };
};

type At = {
  readonly consumer: Consumer;
  readonly needs: ConsumerDependencies;
  readonly positions: ConsumerPositions;
  readonly parked: ParkedOwner;
};

/** Records without a readable envelope become dead letters; their offsets still count. */
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

/** Applies these records; those of parked streams are parked too. */
const applyTogether = async (at: At, records: readonly Opened[], guilty: Guilty): Promise<void> => {
  const { consumer, needs } = at;
  const { events: applied, seen } = await inHalves(at, {
    due: () => dueNow(at, records, guilty),
    apply: (transaction, isPrepared) => applyIn(at, transaction, { records, guilty, isPrepared }),
  });
  await failpoint('consumer.after_commit');
  needs.counted?.('applied', consumer.name, applied.length);
  if (applied.length > 0) consumer.onCommitted?.(applied);
  consumer.onMoved?.(offsetsOf(seen));
};

type InHalves<Applied> = {
  readonly due: Halves<Applied>['due'];
  readonly apply: (
    transaction: Transaction,
    isPrepared: Parameters<Halves<Applied>['apply']>[0],
  ) => Promise<Applied>;
};

/** A consumer without `prepare` needs no read before its transaction. */
const inHalves = <Applied>(
  { consumer, needs }: At,
  { due, apply }: InHalves<Applied>,
): Promise<Applied> => {
  const { prepare } = consumer;
  const { database } = needs;
  if (prepare === undefined) return database.asSystem((sql) => apply(sql, () => true));
  return inTwoHalves({
    due,
    prepare: (events) => spanned(consumer, events, () => prepare(events)),
    apply: (isPrepared) => database.asSystem((sql) => apply(sql, isPrepared)),
  });
};

/** Read without a lock: too many do no harm, and with too few `apply` starts over. */
const dueNow = (
  at: At,
  records: readonly Opened[],
  guilty: Guilty,
): Promise<readonly IntegrationEvent[]> =>
  at.needs.database.asSystem(async (sql) => {
    const seen = await at.positions.read(sql, topicsOf(records));
    return (await sorted(at, sql, advance(records, seen), guilty)).toHandle;
  });

const applyIn = async (
  at: At,
  transaction: Transaction,
  of: {
    readonly records: readonly Opened[];
    readonly guilty: Guilty;
    readonly isPrepared: (event: IntegrationEvent) => boolean;
  },
): Promise<{
  readonly events: readonly IntegrationEvent[];
  readonly seen: ReadonlyMap<string, LanePosition>;
}> => {
  const { consumer, needs, positions } = at;
  const { records, guilty } = of;
  const seen = await positions.lock(transaction, lanesOf(records));
  const fresh = advance(records, seen);
  const { toHandle, toPark } = await sorted(at, transaction, fresh, guilty);
  if (!toHandle.every(of.isPrepared)) throw new MovedMeanwhile();
  needs.counted?.('duplicate', consumer.name, records.length - fresh.length);
  metrics.consumerDuplicates.inc({ consumer: consumer.name }, records.length - fresh.length);
  await parkAll(at, transaction, toPark);
  if (toHandle.length > 0) {
    await spanned(consumer, toHandle, () => consumer.handle(toHandle, transaction));
  }
  await positions.store(transaction, movedOf(records, seen));
  await failpoint('consumer.before_commit');
  return { events: toHandle, seen };
};

/** Both halves appear in traces under the same span name. */
const spanned = (
  consumer: Consumer,
  events: readonly IntegrationEvent[],
  work: () => Promise<void>,
): Promise<void> =>
  span('consume', work, {
    attributes: { consumer: consumer.name, events: events.length },
    links: events.map(({ traceparent }) => traceparent),
  });

type ToPark = { readonly event: IntegrationEvent; readonly errorCode: string | null };
type Sorted = {
  readonly toHandle: readonly IntegrationEvent[];
  /** The event that failed, and the later ones of its stream without an error code. */
  readonly toPark: readonly ToPark[];
};

const sorted = async (
  { consumer, needs, parked }: At,
  sql: Transaction,
  fresh: readonly Opened[],
  guilty: Guilty,
): Promise<Sorted> => {
  const streams = fresh.flatMap(({ event }) => (event === undefined ? [] : [streamName(event)]));
  const waiting = new Set((await parkedPositions(sql, parked, [...new Set(streams)])).keys());
  const toPark: ToPark[] = [];
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
  return { toHandle, toPark };
};

const parkAll = async (
  { consumer, needs, parked }: At,
  transaction: Transaction,
  toPark: readonly ToPark[],
): Promise<void> => {
  if (toPark.length === 0) return;
  const events = toPark.map(({ event, errorCode: code }) => waitingEvent(event, code));
  await park(transaction, parked, events);
  for (const { event, errorCode: code } of toPark) {
    if (code === null) continue;
    needs.counted?.('parked', consumer.name, 1);
    needs.log.error(
      { consumer: consumer.name, type: event.type, position: event.position, code },
      'an event could not be applied, its stream is parked',
    );
  }
};

const isWanted = (consumer: Consumer, event: IntegrationEvent): boolean =>
  consumer.types === undefined || consumer.types.includes(event.type);

/** The consumer also gets types that this release does not know; known ones must fit their schema. */
const misfit = (kindOf: KindOf, event: IntegrationEvent): string | undefined => {
  const kind = kindOf(event.source, event.type, event.schemaVersion);
  return kind === undefined || kind.canBeRead(event.data) ? undefined : 'schema';
};

/**
 * One transaction over the first waiting events. `apply` looks for parked streams in a transaction that
 * holds the partition's row lock, so this transaction takes that lock too.
 */
const releaseSome = async (at: At, stream: string): Promise<number> => {
  const { consumer, needs, positions, parked } = at;
  const waitingIn = (sql: Transaction) => firstWaiting(sql, parked, stream, RELEASED_EVENTS_MAX);
  const events = await inHalves(at, {
    due: () => needs.database.asSystem(waitingIn),
    apply: async (transaction, isPrepared) => {
      await positions.lockAll(transaction);
      const waiting = await waitingIn(transaction);
      if (!waiting.every(isPrepared)) throw new MovedMeanwhile();
      if (waiting.length > 0) await consumer.handle(waiting, transaction);
      await forgetWaiting(transaction, parked, waiting);
      return waiting;
    },
  });
  if (events.length > 0) consumer.onCommitted?.(events);
  return events.length;
};
