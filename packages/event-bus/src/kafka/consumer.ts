import { backOff, PARKED_CHANNEL, runUntil, type Turn } from '@cardea/log-follower';
import {
  type Clock,
  errorCode,
  type Leases,
  type Loops,
  type LoopWatch,
  pacing,
} from '@cardea/runtime';
import type { EachBatchPayload, Consumer as KafkaConsumer, KafkaMessage } from 'kafkajs';
import type { Consumer, RunningConsumer } from '../bus.ts';
import { type ConsumerCore, consumerCore } from '../consuming/consumer-core.ts';
import type { ConsumerDependencies } from '../consuming/records.ts';
import { lapsedReason } from '../partition-ends.ts';
import { type Batching, batching } from './batching.ts';
import { boundedEnd } from './bounded.ts';
import type { KafkaClient } from './kafka-client.ts';
import { type Lanes, lanesOf } from './lanes.ts';
import { lookedAt } from './looked-at.ts';
import type { TopicEnds } from './topic-ends.ts';

/**
 * One member of a consumer group. The driver runs its own loop. This function starts it, retries until
 * brokers and topics exist, and checks once a second whether it makes progress.
 */
export const runConsumer = (
  consumer: Consumer,
  needs: KafkaConsumerDependencies,
): RunningConsumer => {
  const { clock, loops } = needs;
  const log = needs.log.child({ consumer: consumer.name });
  const stopped = new AbortController();
  const watch = loops.watch(`consumer:${consumer.name}`);
  const core = consumerCore(consumer, needs);
  const unlisten = needs.locks.listen(PARKED_CHANNEL, (payload) => {
    if (payload !== undefined && payload !== `${needs.schema} consumer:${consumer.name}`) return;
    core.lookAgain();
  });
  let member: Member | undefined;
  /** Why the previous member failed. Cleared when this one has joined. */
  let earlier: string | undefined;

  const turn = async (): Promise<Turn> => {
    member ??= joinGroup({ consumer, core, needs, watch, signal: stopped.signal });
    const failure = member.failure();
    if (failure !== undefined) {
      const failed = member;
      member = undefined;
      earlier = `cannot join: ${errorCode(failure.error)}`;
      await failed.leave();
      throw failure.error;
    }
    if (member.hasJoined()) earlier = undefined;
    const degraded = (await member.reasonToWorry()) ?? earlier;
    return { degraded, rest: () => clock.sleep(LOOK_MS, stopped.signal) };
  };
  const own: LoopWatch = {
    ...watch,
    tick: () => {
      if (member?.isStuck() !== true) watch.tick();
    },
  };
  const turning = runUntil(stopped.signal, turn, { clock, log, watch: own });
  return {
    stop: async () => {
      stopped.abort();
      await boundedEnd(turning);
      await member?.leave();
      await core.settle();
      unlisten();
      watch.stop();
    },
  };
};

export type KafkaConsumerDependencies = ConsumerDependencies & {
  readonly client: KafkaClient;
  readonly ends: TopicEnds;
  readonly loops: Loops;
  /** Notifies of released streams. */
  readonly locks: Pick<Leases, 'listen'>;
  /** The session timeout, after which a member without heartbeats loses its partitions. */
  readonly sessionMs?: number;
};

const LOOK_MS = 1000;
const SESSION_MS = 30_000;
const HEARTBEAT_MS = 3000;
const REBALANCE_MS = 60_000;
const FETCH_WAIT_MS = 1000;
/** A fetch returns once a second, even without records. */
const SILENCE_MS_MAX = 5000;
const SILENCE_AT_END_MS_MAX = 2000;
/** The longest wait of a join, until a dead member has timed out. No other request of the driver is pending longer. */
const STUCK_MS = REBALANCE_MS + 15_000;
/** How many partitions' batches may be combined into one transaction. */
const TOGETHER_PARTITIONS_MAX = 64;
const SLICE_RECORDS_MAX = 500;

type Joining = {
  readonly consumer: Consumer;
  readonly core: ConsumerCore;
  readonly needs: KafkaConsumerDependencies;
  readonly watch: LoopWatch;
  readonly signal: AbortSignal;
};

type Member = {
  /** Why it could not start, or was stopped by the driver for good: no broker, no such topic, a refusal. */
  failure(): { readonly error: unknown } | undefined;
  hasJoined(): boolean;
  /** Whether the driver neither receives anything from a broker nor retries. */
  isStuck(): boolean;
  reasonToWorry(): Promise<string | undefined>;
  leave(): Promise<void>;
};

const joinGroup = ({ consumer, core, needs, watch, signal }: Joining): Member => {
  const { clock, client, ends } = needs;
  const log = needs.log.child({ consumer: consumer.name });
  const tick = () => watch.tick();
  let answeredAtMs = clock.monotonicMs();
  let seenAtMs = answeredAtMs;
  const onLine = (): void => {
    seenAtMs = clock.monotonicMs();
  };
  const kafka = client.connect({ onLine }).consumer(optionsOf(consumer, needs));
  const silentMs = (): number => clock.monotonicMs() - answeredAtMs;
  const failing = failureNote({ clock, signal, tick, log });
  const lanes = lanesOf({
    consumer: kafka,
    core,
    ends,
    log,
    gotOn: failing.gone,
    failed: failing.failed,
  });
  const apply = batching(pacing(clock), async (looked) => {
    await core.apply(looked, tick);
    failing.gone();
  });
  let hasJoined = false;
  let failure: { readonly error: unknown } | undefined;
  listen(kafka, {
    joined: (assignment) => {
      hasJoined = true;
      lanes.joined(assignment);
    },
    answered: () => {
      answeredAtMs = clock.monotonicMs();
      seenAtMs = answeredAtMs;
    },
    crashed: (error) => {
      log.error(
        { code: errorCode(error), error },
        'the driver has stopped the consumer; another joins',
      );
      failure = { error };
    },
  });
  const begin = async (): Promise<void> => {
    await kafka.connect();
    await kafka.subscribe({ topics: [...consumer.topics], fromBeginning: true });
    await kafka.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: TOGETHER_PARTITIONS_MAX,
      eachBatch: (payload) =>
        applyBatch(payload, { consumer, lanes, apply, failed: failing.failed }),
    });
  };
  begin().catch((error: unknown) => {
    failure = { error };
  });
  return {
    isStuck: () => clock.monotonicMs() - seenAtMs > STUCK_MS,
    failure: () => failure,
    hasJoined: () => hasJoined,
    reasonToWorry: async () => {
      if (silentMs() > SILENCE_MS_MAX)
        return 'no answer from Kafka: it is away, or still waits for a member that was killed';
      if (lanes.lapsed().length > 0) await lanes.resumeLapsed();
      if (lanes.lapsed().length > 0) return lapsedReason(lanes.lapsed());
      return failing.reason() ?? (await core.parkedReason());
    },
    leave: async () => {
      lanes.stop();
      await boundedEnd(kafka.disconnect(), silentMs() > SILENCE_AT_END_MS_MAX);
    },
  };
};

const optionsOf = (consumer: Consumer, { sessionMs = SESSION_MS }: KafkaConsumerDependencies) => ({
  groupId: `cardea.${consumer.name}`,
  sessionTimeout: sessionMs,
  heartbeatInterval: Math.min(HEARTBEAT_MS, sessionMs / 3),
  rebalanceTimeout: REBALANCE_MS,
  maxWaitTimeInMs: FETCH_WAIT_MS,
  allowAutoTopicCreation: false,
});

type Heard = {
  readonly joined: Lanes['joined'];
  readonly answered: () => void;
  /** Called when the driver has stopped by itself. */
  readonly crashed: (error: unknown) => void;
};

const listen = (kafka: KafkaConsumer, heard: Heard): void => {
  kafka.on(kafka.events.GROUP_JOIN, ({ payload }) => heard.joined(payload.memberAssignment));
  kafka.on(kafka.events.REQUEST, heard.answered);
  kafka.on(kafka.events.CRASH, ({ payload }) => {
    if (!payload.restart) heard.crashed(payload.error);
  });
};

/** Handles failures of the database and of requests to brokers: logs them once, waits, and tries again. */
const failureNote = (needs: {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tick: () => void;
  readonly log: KafkaConsumerDependencies['log'];
}) => {
  const failing = backOff(needs);
  let latest: unknown;
  let reason: string | undefined;
  return {
    reason: () => reason,
    gone: () => {
      failing.over();
      reason = undefined;
    },
    /** Returns false when the consumer is stopping, so there is no further try. */
    failed: async (error: unknown): Promise<boolean> => {
      // All partitions of one combined batch fail with the same error.
      if (error !== latest) reason = failing.failed(error);
      latest = error;
      needs.tick();
      await failing.pause(needs.signal);
      return !needs.signal.aborted;
    },
  };
};

type Applying = {
  readonly consumer: Consumer;
  readonly lanes: Lanes;
  readonly apply: Batching;
  readonly failed: (error: unknown) => Promise<boolean>;
};

/** Applies the batch in slices. If the partition was reassigned in between, the rest is left to its new member. */
const applyBatch = async (payload: EachBatchPayload, applying: Applying): Promise<void> => {
  const { batch, heartbeat, isRunning, isStale, resolveOffset } = payload;
  const { consumer, lanes, apply, failed } = applying;
  const lane = { topic: batch.topic, partition: batch.partition };
  const isOurs = () => isRunning() && !isStale();
  const fetched = await afterLast(payload, applying);
  if (fetched === undefined) return;
  if (fetched.length === 0) resolveOffset(batch.messages.at(-1)?.offset ?? '-1');
  for (let from = 0; from < fetched.length; ) {
    const messages = fetched.slice(from, from + SLICE_RECORDS_MAX);
    const last = messages.at(-1)?.offset ?? '-1';
    try {
      if (!isOurs() || !(await lanes.mayApply(lane, BigInt(messages[0]?.offset ?? -1)))) return;
      await apply(lookedAt(consumer, lane, messages));
    } catch (error) {
      if (!(await failed(error))) return;
      await heartbeat();
      continue;
    }
    lanes.applied(lane, BigInt(last));
    resolveOffset(last);
    await heartbeat();
    from += messages.length;
  }
};

const afterLast = async (
  { batch, isRunning, isStale }: EachBatchPayload,
  { lanes, failed }: Applying,
): Promise<readonly KafkaMessage[] | undefined> => {
  while (isRunning() && !isStale()) {
    try {
      return await lanes.afterLast(batch, batch.messages);
    } catch (error) {
      if (!(await failed(error))) return undefined;
    }
  }
  return undefined;
};
