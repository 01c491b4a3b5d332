import type { Logger } from '@cardea/runtime';
import type { Consumer as KafkaConsumer, KafkaMessage } from 'kafkajs';
import type { ConsumerCore } from '../consuming/consumer-core.ts';
import { type Lane, type LanePosition, laneKey } from '../consuming/consumer-positions.ts';
import { readable } from '../consuming/readable.ts';
import { isLapsed, type PartitionEnds } from '../partition-ends.ts';
import { eventIn, positionIn } from './cloud-event.ts';
import type { TopicEnds } from './topic-ends.ts';

/**
 * The partitions that this member reads. A partition is paused until the driver was set to the offset in our own
 * tables, because Kafka's committed offset is only advisory. It stays paused while the topic no longer has that offset,
 * because the driver would silently continue at another one. A replay that publishes the lost records again ends the
 * pause.
 */
export type Lanes = {
  /** Called during the join itself, before anything is fetched. */
  joined(assignment: { readonly [topic: string]: readonly number[] }): void;
  /** Whether records from this offset on may be applied. */
  mayApply(lane: Lane, firstOffset: bigint): Promise<boolean>;
  /**
   * The records after the last one that was applied. That one is fetched again after a join, and proves that the topic
   * is still the same. Undefined if it is not.
   */
  afterLast(
    lane: Lane,
    messages: readonly KafkaMessage[],
  ): Promise<readonly KafkaMessage[] | undefined>;
  /** Call it when records up to and including this offset were applied. */
  applied(lane: Lane, offset: bigint): void;
  /** Names of partitions that are paused because the topic no longer has their next offset. */
  lapsed(): readonly string[];
  /** Resumes the partitions whose lost records were published again. */
  resumeLapsed(): Promise<void>;
  stop(): void;
};

type Dependencies = {
  readonly consumer: KafkaConsumer;
  readonly core: ConsumerCore;
  readonly ends: TopicEnds;
  readonly log: Logger;
  readonly gotOn: () => void;
  /** Waits before the next try. Returns false when the consumer is stopping. */
  readonly failed: (error: unknown) => Promise<boolean>;
};

/**
 * The offset at which a partition continues, and the position of the record before it, which is fetched
 * again.
 */
type Start = { readonly next: bigint; readonly proof?: bigint };

export const lanesOf = (deps: Dependencies): Lanes => {
  const { consumer, ends } = deps;
  const { expected, proofs, lapsed, goOn, standStill } = laneStates(deps);
  let joins = 0;

  const takeUp = async (lanes: readonly Lane[], join: number): Promise<void> => {
    const starts = await startsOf(deps, lanes);
    if (join !== joins) return;
    for (const lane of lanes) {
      const start = starts.get(laneKey(lane));
      if (start === undefined) standStill(lane);
      else goOn(lane, start);
    }
    deps.gotOn();
  };
  const isWithinEnds = async (lane: Lane, offset: bigint): Promise<boolean> => {
    const found = await ends.of([lane.topic]);
    return found.some(
      ({ partition, low, high }) => partition === lane.partition && offset >= low && offset <= high,
    );
  };

  return {
    lapsed: () => [...lapsed.keys()],
    resumeLapsed: async () => {
      const join = joins;
      const starts = await startsOf(deps, [...lapsed.values()]);
      if (join !== joins) return;
      for (const [name, start] of starts) {
        const lane = lapsed.get(name);
        if (lane !== undefined) goOn(lane, start);
      }
    },
    joined: (assignment) => {
      joins += 1;
      const join = joins;
      lapsed.clear();
      expected.clear();
      proofs.clear();
      const lanes = Object.entries(assignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      );
      consumer.pause(assignments(lanes));
      const untilTakenUp = async (): Promise<void> => {
        for (let again = true; again && join === joins; ) {
          again = await takeUp(lanes, join).then(() => false, deps.failed);
        }
      };
      if (lanes.length > 0) void untilTakenUp();
    },
    mayApply: async (lane, firstOffset) => {
      const wanted = expected.get(laneKey(lane));
      if (wanted === undefined || lapsed.has(laneKey(lane))) return false;
      if (firstOffset === wanted) return true;
      // An older offset was fetched before a join, or the topic was created again. The position tells which records
      // were applied.
      if (firstOffset < wanted && (await isWithinEnds(lane, wanted))) return true;
      standStill(lane);
      return false;
    },
    afterLast: async (lane, messages) => {
      const name = laneKey(lane);
      const [first] = messages;
      const proof = proofs.get(name);
      if (first === undefined || proof === undefined) return messages;
      if (BigInt(first.offset) + 1n === expected.get(name)) {
        if (!isProvenBy(first, proof)) {
          await deps.core.lose(lane);
          standStill(lane);
          return undefined;
        }
        proofs.delete(name);
        return messages.slice(1);
      }
      proofs.delete(name);
      return messages;
    },
    applied: (lane, offset) => {
      if (expected.has(laneKey(lane))) expected.set(laneKey(lane), offset + 1n);
    },
    stop: () => {
      joins += 1;
    },
  };
};

/** A record without a readable envelope became a dead letter and left no position. */
const isProvenBy = (message: KafkaMessage, proof: bigint): boolean =>
  BigInt(positionIn(message).position ?? 0) <= proof ||
  readable(eventIn(message)).event === undefined;

const laneStates = ({ consumer, log }: Dependencies) => {
  const lapsed = new Map<string, Lane>();
  const expected = new Map<string, bigint>();
  const proofs = new Map<string, bigint>();
  return {
    lapsed,
    expected,
    proofs,
    goOn: (lane: Lane, { next, proof }: Start): void => {
      const name = laneKey(lane);
      lapsed.delete(name);
      expected.set(name, next);
      if (proof !== undefined) proofs.set(name, proof);
      consumer.seek({ ...lane, offset: String(proof === undefined ? next : next - 1n) });
      consumer.resume(assignments([lane]));
    },
    standStill: (lane: Lane): void => {
      lapsed.set(laneKey(lane), lane);
      consumer.pause(assignments([lane]));
      log.error(
        { topic: lane.topic, partition: lane.partition },
        'records lapsed before they were read; the partition stands still',
      );
    },
  };
};

/** The offsets at which these partitions continue, without those whose next records the topic has lost. */
const startsOf = async (
  { core, ends }: Dependencies,
  lanes: readonly Lane[],
): Promise<ReadonlyMap<string, Start>> => {
  if (lanes.length === 0) return new Map();
  await core.settle();
  const stored = await core.offsets();
  const topics = [...new Set(lanes.map(({ topic }) => topic))];
  const found = new Map((await ends.of(topics)).map((end) => [laneKey(end), end]));
  const starts = new Map<string, Start>();
  for (const name of lanes.map(laneKey)) {
    const end = found.get(name);
    if (end === undefined) throw new Error('a partition without ends');
    const start = await startOf(core, end, stored.get(name));
    if (start !== undefined) starts.set(name, start);
  }
  return starts;
};

const startOf = async (
  core: ConsumerCore,
  end: PartitionEnds,
  stored: LanePosition | undefined,
): Promise<Start | undefined> => {
  if (stored === undefined || stored.offset < 0n) return { next: end.low };
  const next = stored.offset + 1n;
  if (isLapsed(end, next)) {
    const resumed = await core.resume(end);
    return resumed === undefined ? undefined : { next: resumed };
  }
  return stored.offset >= end.low ? { next, proof: stored.position } : { next };
};

const assignments = (lanes: readonly Lane[]): { topic: string; partitions: number[] }[] =>
  [...Map.groupBy(lanes, ({ topic }) => topic)].map(([topic, all]) => ({
    topic,
    partitions: all.map(({ partition }) => partition),
  }));
