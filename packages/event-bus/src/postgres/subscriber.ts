import { randomUUID } from 'node:crypto';
import { runUntil, type Turn } from '@cardea/log-follower';
import type { Database, LeaderLocks } from '@cardea/read-models';
import { type Clock, type Loops, type WakeSignal, wakeSignal } from '@cardea/runtime';
import type { Consumer, RunningConsumer, Subscriber } from '../bus.ts';
import {
  type ConsumerCore,
  type ConsumerDependencies,
  consumerCore,
  type RawRecord,
} from '../consuming/consumer-core.ts';
import { appliedOffsets, laneKey } from '../consuming/consumer-positions.ts';
import { appliedThrough, endsOf, lagOf } from './applied-through.ts';
import { type Membership, membership } from './membership.ts';
import { BUS_NOTICES } from './migrations.ts';

export type PostgresSubscriberDependencies = ConsumerDependencies & {
  /** The database of the topics; often the same as `database`. */
  readonly bus: Database;
  /** Locks in the database of the topics. */
  readonly locks: LeaderLocks;
  readonly clock: Clock;
  readonly loops: Loops;
};

const BATCH_RECORDS_MAX = 1000;
const POLL_MS = 1000;
const REFRESH_MS = 1000;

/** Reads topics that are tables: woken by notices, and polling once a second. */
export const postgresSubscriber = (needs: PostgresSubscriberDependencies): Subscriber => {
  const running = new Set<RunningConsumer>();
  return {
    run: async (consumer) => {
      const one = runConsumer(consumer, needs);
      running.add(one);
      return {
        stop: async () => {
          running.delete(one);
          await one.stop();
        },
      };
    },
    appliedThrough: (consumer, topic) => appliedThrough(needs, consumer, topic),
    ends: (topics) => endsOf(needs.bus, topics),
    applied: (consumer, topics) => appliedOffsets(needs, consumer, topics),
    lag: (consumer, topics) => lagOf(needs, consumer, topics),
    close: async () => {
      await Promise.all([...running].map((one) => one.stop()));
    },
  };
};

const runConsumer = (
  consumer: Consumer,
  needs: PostgresSubscriberDependencies,
): RunningConsumer => {
  const { clock, loops, locks } = needs;
  const log = needs.log.child({ consumer: consumer.name });
  const stopped = new AbortController();
  const wake = wakeSignal(clock);
  const watch = loops.watch(`consumer:${consumer.name}`);
  const members = membership(consumer.name, {
    bus: needs.bus,
    locks,
    member: randomUUID(),
    onGranted: () => {
      reader.lookAgain();
      wake.wake();
    },
  });
  const unlisten = locks.listen(BUS_NOTICES, (topic) => {
    if (topic === undefined || consumer.topics.includes(topic)) wake.wake();
  });
  const reader = topicReader({
    consumer,
    needs,
    members,
    wake,
    core: consumerCore(consumer, needs),
    signal: stopped.signal,
    tick: () => watch.tick(),
  });
  const turning = runUntil(stopped.signal, reader.turn, { clock, log, watch });
  return {
    stop: async () => {
      stopped.abort();
      await turning;
      unlisten();
      await members.leave();
      watch.stop();
    },
  };
};

type Reading = {
  readonly consumer: Consumer;
  readonly needs: PostgresSubscriberDependencies;
  readonly members: Membership;
  readonly wake: WakeSignal;
  readonly core: ConsumerCore;
  readonly signal: AbortSignal;
  readonly tick: () => void;
};

const READ = {
  name: 'bus_read',
  text: 'SELECT * FROM bus.read($1::text[], $2::smallint[], $3::bigint[], $4)',
};

type Lane = { readonly topic: string; readonly partition: number };

/**
 * An iteration checks once a second which partitions this member has and which streams are parked, and
 * applies one batch.
 */
const topicReader = (
  reading: Reading,
): { readonly turn: () => Promise<Turn>; readonly lookAgain: () => void } => {
  const { consumer, needs, members, core, tick } = reading;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let degraded: string | undefined;
  let ours: ReadonlySet<number> = new Set();
  /** The next offset of each lane that this member reads; a missing one is loaded. */
  let next = new Map<string, bigint>();
  let lanes: Lane[] = [];
  const lapsed = new Set<string>();

  const refresh = async (): Promise<void> => {
    const now = needs.clock.monotonicMs();
    if (now - refreshedAt < REFRESH_MS) return;
    refreshedAt = now;
    const found = await members.refresh();
    degraded = await reasonToWorry(core, lapsed);
    if (found.size === ours.size && [...found].every((partition) => ours.has(partition))) return;
    next = new Map();
    ours = found;
  };
  const lookUp = async (): Promise<void> => {
    const applied = await core.offsets();
    lanes = consumer.topics.flatMap((topic) =>
      [...ours].map((partition) => ({ topic, partition })),
    );
    next = new Map(
      lanes.map((lane) => [laneKey(lane), (applied.get(laneKey(lane))?.offset ?? -1n) + 1n]),
    );
  };
  const read = async (): Promise<readonly RawRecord[]> => {
    if (ours.size === 0) return [];
    if (next.size === 0) await lookUp();
    const open = lanes.filter((lane) => !lapsed.has(laneKey(lane)));
    const { rows } = await needs.bus.system.query<RawRecord>(READ, [
      open.map(({ topic }) => topic),
      open.map(({ partition }) => partition),
      open.map((lane) => String(next.get(laneKey(lane)))),
      BATCH_RECORDS_MAX,
    ]);
    // The query fills a batch lane by lane: rotating the list gives each lane its turn to be first.
    lanes.push(...lanes.splice(0, Math.ceil(lanes.length / 3)));
    return rows;
  };

  const apply = async (records: readonly RawRecord[]): Promise<void> => {
    const whole = withoutLapsed(records, next, lapsed);
    if (whole.length < records.length) {
      needs.log.error(
        { consumer: consumer.name, lanes: [...lapsed] },
        'records lapsed before they were read; the partition stands still',
      );
    }
    try {
      await core.apply(whole, tick);
    } catch (error) {
      next = new Map(); // part of the batch may have been applied
      throw error;
    }
    for (const record of whole) next.set(laneKey(record), BigInt(record.offset) + 1n);
  };

  return {
    lookAgain: () => {
      refreshedAt = Number.NEGATIVE_INFINITY;
    },
    turn: async () => {
      await refresh();
      const records = await read();
      if (records.length === 0) {
        return { degraded, rest: () => reading.wake.rest(POLL_MS, reading.signal) };
      }
      await apply(records);
      return { degraded };
    },
  };
};

/**
 * A lane that was read before must continue without a gap, else its next records were deleted before they
 * were read.
 */
const withoutLapsed = (
  records: readonly RawRecord[],
  next: ReadonlyMap<string, bigint>,
  lapsed: Set<string>,
): readonly RawRecord[] => {
  const looked = new Set<string>();
  for (const record of records) {
    const lane = laneKey(record);
    if (looked.has(lane)) continue;
    looked.add(lane);
    const expected = next.get(lane) ?? 0n;
    if (expected > 0n && BigInt(record.offset) > expected) lapsed.add(lane);
  }
  return lapsed.size === 0 ? records : records.filter((record) => !lapsed.has(laneKey(record)));
};

const reasonToWorry = async (
  core: ConsumerCore,
  lapsed: ReadonlySet<string>,
): Promise<string | undefined> => {
  if (lapsed.size > 0) return `records lapsed before they were read in ${lapsed.size} partitions`;
  const parked = await core.parked();
  return parked.length === 0 ? undefined : `parked streams: ${parked.length}`;
};
