import { PARKED_CHANNEL, runUntil } from '@cardea/log-follower';
import type { ProcessSession } from '@cardea/postgres';
import type { Database } from '@cardea/read-models';
import type { Loops } from '@cardea/runtime';
import type { Consumer, RunningConsumer, Subscriber } from '../bus.ts';
import { consumerCore } from '../consuming/consumer-core.ts';
import { appliedOffsets, consumerPositions } from '../consuming/consumer-positions.ts';
import type { ConsumerDependencies } from '../consuming/records.ts';
import { lapsedAmong } from '../partition-ends.ts';
import { appliedThrough, endsOf, lagOf } from './applied-through.ts';
import { laneRecords } from './lane-records.ts';
import type { Members } from './members.ts';
import { topicNotices } from './topic-notices.ts';
import { topicReader } from './topic-reader.ts';
import type { TopicTails } from './topic-tails.ts';

export type PostgresSubscriberDependencies = ConsumerDependencies & {
  /** The database of the topics; often the same as `database`. */
  readonly bus: Database;
  /** The session is in the database of the topics, and receives notices of new records. */
  readonly locks: ProcessSession;
  /** The memberships of all consumers of the process. */
  readonly members: Members;
  /** The records that this process publishes. */
  readonly tails: TopicTails;
  readonly loops: Loops;
};

/** Reads topics that are tables. Notices wake it, and it also reads every ten seconds. */
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
    lapsed: async (consumer, topics) => {
      const found = await endsOf(needs.bus, topics);
      const { read } = consumerPositions(needs.schema, consumer);
      return lapsedAmong(found, await read(needs.database.system, topics));
    },
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
  const { bus, clock, loops, locks, schema, tails } = needs;
  const log = needs.log.child({ consumer: consumer.name });
  const stopped = new AbortController();
  const watch = loops.watch(`consumer:${consumer.name}`);
  const notices = topicNotices(consumer, { clock, locks, tails });
  const members = needs.members.join(consumer.name, notices.wake);
  const core = consumerCore(consumer, needs);
  const unlisten = locks.listen(PARKED_CHANNEL, (payload) => {
    if (payload !== undefined && payload !== `${schema} consumer:${consumer.name}`) return;
    core.lookAgain();
    notices.wake();
  });
  const reader = topicReader({
    consumer,
    clock,
    log,
    members,
    notices,
    core,
    ends: (topics) => endsOf(bus, topics),
    laneRecords: laneRecords(consumer, { bus, notices, tails }),
    signal: stopped.signal,
    tick: () => watch.tick(),
  });
  const turning = runUntil(stopped.signal, reader.turn, { clock, log, watch });
  return {
    stop: async () => {
      stopped.abort();
      await turning;
      unlisten();
      notices.end();
      await core.settle();
      await members.leave();
      watch.stop();
    },
  };
};
