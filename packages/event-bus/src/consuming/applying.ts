/** Applies records in one transaction: positions, effects and parked events commit together. */
import type { IntegrationEvent } from '@cardea/contracts';
import { type ParkedOwner, park, parkedPositions } from '@cardea/log-follower';
import type { Statement, Transaction } from '@cardea/read-models';
import { failpoint, metrics, span } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import {
  type ConsumerPositions,
  type ConsumerProgress,
  isMovedElsewhere,
  type LaneMove,
  type LanePosition,
  laneKey,
  NOTHING_APPLIED,
  offsetsOf,
  raisedTogether,
} from './consumer-positions.ts';
import type { KnownPositions } from './known-positions.ts';
import { advance, movedOf, type Opened, topicsOf } from './lane-moves.ts';
import type { LatePositions, Moved } from './late-positions.ts';
import type { ConsumerDependencies, KindOf } from './records.ts';
import { tell } from './telling.ts';
import { inTwoHalves, MovedMeanwhile } from './two-halves.ts';
import { streamName, waitingEvent } from './waiting-events.ts';

export type At = {
  readonly consumer: Consumer;
  readonly needs: ConsumerDependencies;
  readonly positions: ConsumerPositions;
  readonly parked: ParkedOwner;
  readonly late: LatePositions;
  readonly known: KnownPositions;
  /** Called when a stream was parked or released here. */
  readonly onParked: () => void;
};

/** Records that failed on their own, with the reason. Their streams are parked. */
export type Guilty = ReadonlyMap<Opened, string>;

/** The largest batch that shares a transaction. A larger one would delay the others in it. */
const SHARED_EVENTS_MAX = 100;

type Seen = Map<string, LanePosition>;
type Answer = Parameters<NonNullable<Consumer['onCommitted']>>[1][number];
type Applied = {
  readonly events: readonly IntegrationEvent[];
  /** The results of the statements of {@link Consumer.statements}. */
  readonly answers: readonly Answer[];
  readonly seen: Seen;
  /** Positions of earlier batches that were stored together with these. */
  readonly late: readonly Moved[];
};

/** Applies these records. Those of parked streams are parked too. */
export const applyTogether = async (
  at: At,
  records: readonly Opened[],
  guilty: Guilty,
): Promise<void> => {
  const { consumer, needs } = at;
  const { events, answers, seen, late } = await inHalves(at, { records, guilty });
  at.late.stored(late);
  await failpoint('consumer.after_commit');
  needs.counted?.('applied', consumer.name, events.length);
  await tell(at, async () => {
    if (events.length > 0) await consumer.onCommitted?.(events, answers);
    consumer.onMoved?.(offsetsOf(seen));
  });
};

/** Moves the positions over records without effect. They are stored later. */
export const passOver = (at: At, records: readonly Opened[], seen: Seen = new Map()): void => {
  const fresh = advance(records, seen);
  noteRepeats(at, records, fresh);
  at.late.pass(movedOf(records, seen));
  at.consumer.onMoved?.(offsetsOf(seen));
};

type Applying = { readonly records: readonly Opened[]; readonly guilty: Guilty };

const inHalves = (at: At, applying: Applying): Promise<Applied> => {
  const { consumer } = at;
  const { prepare, preparedTypes } = consumer;
  const toPrepare = (events: readonly IntegrationEvent[]) =>
    prepare === undefined ? [] : ofTypes(preparedTypes, events);
  const events = applying.records.flatMap(({ event }) => event ?? []);
  let isFirst = toPrepare(events).length === 0;
  let due: Due;
  return inTwoHalves<Applied>({
    due: async () => {
      // The prepared effects are applied here, so they must not depend on outdated state of this process.
      const known = isFirst ? at.known.before(applying.records) : undefined;
      isFirst = false;
      due = dueAfter(at, applying, known ?? (await readProgress(at, applying)));
      return due.toHandle;
    },
    prepare: async (all) => {
      const mine = toPrepare(all);
      if (mine.length > 0) await spanned(consumer, mine, async () => prepare?.(mine));
    },
    apply: () =>
      changesRows(consumer, due)
        ? written(at, applying, due)
        : Promise.resolve(passed(at, applying, due)),
  });
};

/** False if `prepare` did everything that is due, so only the position is left to store. */
const changesRows = ({ appliedTypes }: Consumer, { toHandle, toPark }: Sorted): boolean =>
  toPark.length > 0 || ofTypes(appliedTypes, toHandle).length > 0;

const passed = (at: At, { records }: Applying, { fresh, seen, toHandle }: Due): Applied => {
  noteRepeats(at, records, fresh);
  at.late.pass(movedOf(records, seen));
  return { events: toHandle, answers: [], seen, late: [] };
};

type Due = Sorted & {
  readonly seen: Seen;
  readonly fresh: readonly Opened[];
  /** The positions before these records, and the parked streams. */
  readonly from: ConsumerProgress;
};

const readProgress = async (at: At, { records }: Applying): Promise<ConsumerProgress> => {
  const topics = topicsOf(records);
  const read = await at.positions.readDue(at.needs.database.system, topics, streamsOf(records));
  at.known.learn(topics, read);
  return read;
};

const dueAfter = (at: At, { records, guilty }: Applying, from: ConsumerProgress): Due => {
  const seen = new Map(from.seen);
  const fresh = advance(records, seen);
  return { ...sorted(at, { fresh, guilty, waiting: new Set(from.parked) }), seen, fresh, from };
};

/** Effects and positions commit together, and only if the positions are those on which `due` is based. */
const written = async (at: At, { records }: Applying, due: Due): Promise<Applied> => {
  const { consumer, needs, positions } = at;
  const { seen, toHandle, toPark, from, fresh } = due;
  const late = at.late.waiting;
  const moves = movesOf(movedOf(records, seen), late, from.seen);
  const moving = positions.moving(moves);
  const toApply = ofTypes(consumer.appliedTypes, toHandle);
  const withAnswers = () =>
    needs.database.asSystem(async (transaction) => {
      await transaction.together([moving]);
      await parkAll(at, transaction, due);
      const effects = await effectsOf(consumer, toApply, transaction);
      await failpoint('consumer.before_commit');
      return await transaction.commitWith(effects);
    });
  /** Consumers of one process often have the same events at the same time. */
  const inOneTrip = async () => {
    const effects = toApply.length === 0 ? [] : (consumer.statements?.(toApply) ?? []);
    await failpoint('consumer.before_commit');
    const statements = [moving, ...effects];
    const isSmall = toApply.length <= SHARED_EVENTS_MAX;
    const answers = await (isSmall
      ? needs.shared.together(statements)
      : needs.database.asSystemAtOnce(statements));
    return answers.slice(1);
  };
  const commit = toPark.length > 0 || consumer.handle !== undefined ? withAnswers : inOneTrip;
  try {
    const answers = await (toApply.length > 0 ? spanned(consumer, toApply, commit) : commit());
    at.known.moved(moves);
    if (toPark.length > 0) at.known.forget();
    noteRepeats(at, records, fresh);
    return { events: toHandle, answers, seen, late };
  } catch (error) {
    at.known.forget();
    throw isMovedElsewhere(error) ? new MovedMeanwhile() : error;
  }
};

/** The lanes of this batch from their read positions; other lanes, whose positions are pending, from any position. */
const movesOf = (
  moved: readonly Moved[],
  late: readonly Moved[],
  from: Seen,
): readonly LaneMove[] => {
  const own = new Set(moved.map(laneKey));
  return raisedTogether([...late, ...moved]).map((move) => {
    const lane = laneKey(move);
    return own.has(lane) ? { ...move, from: from.get(lane) ?? NOTHING_APPLIED } : move;
  });
};

/** Runs the effects that need results, and returns the statements that remain. */
export const effectsOf = async (
  consumer: Consumer,
  events: readonly IntegrationEvent[],
  transaction: Transaction,
): Promise<readonly Statement[]> => {
  if (events.length === 0) return [];
  await consumer.handle?.(events, transaction);
  return consumer.statements?.(events) ?? [];
};

const noteRepeats = (
  { consumer, needs }: At,
  records: readonly Opened[],
  fresh: readonly Opened[],
): void => {
  const repeats = records.filter(({ event }) => event !== undefined).length - fresh.length;
  needs.counted?.('duplicate', consumer.name, repeats);
  metrics.consumerDuplicates.inc({ consumer: consumer.name }, repeats);
};

/** Both halves appear in traces under the same span name. */
const spanned = <T>(
  consumer: Consumer,
  events: readonly IntegrationEvent[],
  work: () => Promise<T>,
): Promise<T> =>
  span('consume', work, {
    attributes: { consumer: consumer.name, events: events.length },
    links: () => events.map(({ traceparent }) => traceparent),
  });

type ToPark = { readonly event: IntegrationEvent; readonly errorCode: string | null };
type Sorted = {
  readonly toHandle: readonly IntegrationEvent[];
  /** The event that failed, and the later ones of its stream without an error code. */
  readonly toPark: readonly ToPark[];
};

const streamsOf = (records: readonly Opened[]): readonly string[] => [
  ...new Set(records.flatMap(({ event }) => (event === undefined ? [] : [streamName(event)]))),
];

/** `waiting` are the parked streams. */
const sorted = (
  { consumer, needs }: At,
  of: {
    readonly fresh: readonly Opened[];
    readonly guilty: Guilty;
    readonly waiting: Set<string>;
  },
): Sorted => {
  const toPark: ToPark[] = [];
  const toHandle: IntegrationEvent[] = [];
  for (const record of of.fresh) {
    const { event } = record;
    if (event === undefined || !isWanted(consumer, event)) continue;
    const stream = streamName(event);
    const code = of.waiting.has(stream)
      ? null
      : (of.guilty.get(record) ?? misfit(needs.kindOf, event));
    if (code === undefined) {
      toHandle.push(event);
      continue;
    }
    of.waiting.add(stream);
    toPark.push({ event, errorCode: code });
  }
  return { toHandle, toPark };
};

const parkAll = async (at: At, transaction: Transaction, { toPark, from }: Due): Promise<void> => {
  if (toPark.length === 0) return;
  const { consumer, needs } = at;
  // A release does not move positions. An event that waits for a stream that is no longer parked would wait forever.
  const parked = await parkedPositions(transaction, at.parked, from.parked);
  if (from.parked.some((stream) => !parked.has(stream))) throw new MovedMeanwhile();
  const events = toPark.map(({ event, errorCode: code }) => waitingEvent(event, code));
  await park(transaction, at.parked, events);
  at.onParked();
  for (const { event, errorCode: code } of toPark) {
    if (code === null) continue;
    needs.counted?.('parked', consumer.name, 1);
    needs.log.error(
      { consumer: consumer.name, type: event.type, position: event.position, code },
      'an event could not be applied, its stream is parked',
    );
  }
};

export const ofTypes = (
  types: readonly string[] | undefined,
  events: readonly IntegrationEvent[],
): readonly IntegrationEvent[] =>
  types === undefined ? events : events.filter(({ type }) => types.includes(type));

const isWanted = (consumer: Consumer, event: IntegrationEvent): boolean =>
  consumer.types === undefined || consumer.types.includes(event.type);

/** The consumer also gets types that this release does not know. Known types must fit their schema. */
const misfit = (kindOf: KindOf, event: IntegrationEvent): string | undefined => {
  const kind = kindOf(event.source, event.type, event.schemaVersion);
  return kind === undefined || kind.canBeRead(event.data) ? undefined : 'schema';
};
