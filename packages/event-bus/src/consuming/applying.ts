/** Applies records in one transaction: effects, parked events and positions commit together. */
import type { IntegrationEvent } from '@cardea/contracts';
import { type ParkedOwner, park } from '@cardea/log-follower';
import type { Statement, Transaction } from '@cardea/read-models';
import { failpoint, metrics, span } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import type { ConsumerDependencies, KindOf } from './consumer-core.ts';
import {
  type ConsumerPositions,
  type LanePosition,
  offsetsOf,
  raisedTogether,
} from './consumer-positions.ts';
import { advance, lanesOf, movedOf, type Opened, topicsOf } from './lane-moves.ts';
import type { LatePositions, Moved } from './late-positions.ts';
import { type Halves, inTwoHalves, MovedMeanwhile } from './two-halves.ts';
import { streamName, waitingEvent } from './waiting-events.ts';

export type At = {
  readonly consumer: Consumer;
  readonly needs: ConsumerDependencies;
  readonly positions: ConsumerPositions;
  readonly parked: ParkedOwner;
  readonly late: LatePositions;
  /** Called when a stream was parked or released here. */
  readonly onParked: () => void;
};

/** Records that failed alone, and why: their streams are parked. */
export type Guilty = ReadonlyMap<Opened, string>;

type Seen = Map<string, LanePosition>;
type Applied = {
  readonly events: readonly IntegrationEvent[];
  readonly seen: Seen;
  /** Positions of before that were stored together with these. */
  readonly late: readonly Moved[];
};

/** Applies these records; those of parked streams are parked too. */
export const applyTogether = async (
  at: At,
  records: readonly Opened[],
  guilty: Guilty,
): Promise<void> => {
  const { consumer, needs } = at;
  const { events, seen, late } = await inHalves(at, { records, guilty });
  at.late.stored(late);
  await failpoint('consumer.after_commit');
  needs.counted?.('applied', consumer.name, events.length);
  if (events.length > 0) consumer.onCommitted?.(events);
  consumer.onMoved?.(offsetsOf(seen));
};

/** Moves the positions over records none of which has an effect; they are stored later. */
export const passOver = (at: At, records: readonly Opened[], seen: Seen = new Map()): void => {
  const fresh = advance(records, seen);
  noteRepeats(at, records, fresh);
  at.late.pass(movedOf(records, seen));
  at.consumer.onMoved?.(offsetsOf(seen));
};

type Applying = { readonly records: readonly Opened[]; readonly guilty: Guilty };

/** Where nothing is prepared, no read is needed before the transaction. */
const inHalves = async (at: At, applying: Applying): Promise<Applied> => {
  const { consumer, needs } = at;
  const commit = (isPrepared: IsPrepared) =>
    needs.database.asSystem((sql) => applyIn(at, sql, { ...applying, isPrepared }));
  const { prepare, preparedTypes } = consumer;
  const events = applying.records.flatMap(({ event }) => event ?? []);
  if (prepare === undefined || ofTypes(preparedTypes, events).length === 0) {
    return commit(() => true);
  }
  let due: Due | undefined;
  return inTwoHalves<Applied>({
    due: async () => {
      due = await dueNow(at, applying);
      return due.toHandle;
    },
    prepare: async (all) => {
      const toPrepare = ofTypes(preparedTypes, all);
      if (toPrepare.length === 0) return;
      await spanned(consumer, toPrepare, () => prepare(toPrepare));
    },
    apply: (areReady) =>
      due === undefined || changesRows(consumer, due)
        ? commit(areReady)
        : Promise.resolve(passed(at, applying, due)),
  });
};

type IsPrepared = Parameters<Halves<Applied>['apply']>[0];

/** False where everything that is due was done by `prepare`: then only the position is left to store. */
const changesRows = ({ appliedTypes }: Consumer, { toHandle, toPark }: Sorted): boolean =>
  toPark.length > 0 || ofTypes(appliedTypes, toHandle).length > 0;

const passed = (at: At, { records }: Applying, { fresh, seen, toHandle }: Due): Applied => {
  noteRepeats(at, records, fresh);
  at.late.pass(movedOf(records, seen));
  return { events: toHandle, seen, late: [] };
};

type Due = Sorted & { readonly seen: Seen; readonly fresh: readonly Opened[] };

/** Read without a lock: too many do no harm, and with too few `apply` starts over. */
const dueNow = async (at: At, { records, guilty }: Applying): Promise<Due> => {
  const { seen, parked } = await at.positions.readDue(
    at.needs.database.system,
    topicsOf(records),
    streamsOf(records),
  );
  const fresh = advance(records, seen);
  return { ...sorted(at, { fresh, guilty, waiting: new Set(parked) }), seen, fresh };
};

const applyIn = async (
  at: At,
  transaction: Transaction,
  of: Applying & { readonly isPrepared: IsPrepared },
): Promise<Applied> => {
  const { consumer, positions } = at;
  const { records, guilty } = of;
  const lanes = lanesOf(records);
  const { seen, parked } = await positions.lock(transaction, lanes, streamsOf(records));
  const fresh = advance(records, seen);
  const { toHandle, toPark } = sorted(at, { fresh, guilty, waiting: new Set(parked) });
  if (!toHandle.every(of.isPrepared)) throw new MovedMeanwhile();
  noteRepeats(at, records, fresh);
  await parkAll(at, transaction, toPark);
  const late = at.late.waiting;
  const storing = positions.storing(raisedTogether([...late, ...movedOf(records, seen)]));
  const toApply = ofTypes(consumer.appliedTypes, toHandle);
  const commit = async (): Promise<void> => {
    const effects = await effectsOf(consumer, toApply, transaction);
    await failpoint('consumer.before_commit');
    await transaction.commitWith([...effects, storing]);
  };
  await (toApply.length > 0 ? spanned(consumer, toApply, commit) : commit());
  return { events: toHandle, seen, late };
};

/** Does what needs answers, and returns the statements that are left. */
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

const streamsOf = (records: readonly Opened[]): readonly string[] => [
  ...new Set(records.flatMap(({ event }) => (event === undefined ? [] : [streamName(event)]))),
];

/** `waiting`: the streams that are parked. */
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

const parkAll = async (
  at: At,
  transaction: Transaction,
  toPark: readonly ToPark[],
): Promise<void> => {
  if (toPark.length === 0) return;
  const { consumer, needs } = at;
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

/** The consumer also gets types that this release does not know; known ones must fit their schema. */
const misfit = (kindOf: KindOf, event: IntegrationEvent): string | undefined => {
  const kind = kindOf(event.source, event.type, event.schemaVersion);
  return kind === undefined || kind.canBeRead(event.data) ? undefined : 'schema';
};
