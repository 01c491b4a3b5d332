import { setTimeout as pause } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { type TopicPlan, topicPlans } from '../topics.ts';
import { boundedEnd } from './bounded.ts';
import { type KafkaClient, RETRY_SHORTLY } from './kafka-client.ts';

/**
 * Creates the missing topics. A topic with another number of partitions is refused and never altered, because keys
 * would move to other partitions and lose their order.
 */
export const createTopics = async (
  client: KafkaClient,
  options: { readonly replication?: number; readonly topics?: readonly TopicPlan[] } = {},
): Promise<{ readonly created: readonly string[]; readonly existing: readonly string[] }> => {
  const { replication = REPLICATION, topics = topicPlans() } = options;
  return await withAdmin(client, async (admin) => {
    const { missing, existing, misfits } = await compare(admin, topics);
    if (misfits.length > 0) throw new TopicsMisfit(misfits);
    if (missing.length > 0) {
      // The driver's own wait gives up on a topic that the metadata does not show yet.
      await admin.createTopics({
        topics: missing.map((plan) => requestOf(plan, replication)),
        waitForLeaders: false,
      });
      for (const { topic } of missing) await untilLed(admin, topic);
    }
    return { created: missing.map(({ topic }) => topic), existing };
  });
};

/**
 * Deletes the topics and creates them again, empty. This disturbs all readers and writers, so only a restore
 * calls it, while no process of the product runs.
 */
export const remakeTopics = async (
  client: KafkaClient,
  options: { readonly replication?: number; readonly topics?: readonly TopicPlan[] } = {},
): Promise<readonly string[]> => {
  const { topics = topicPlans() } = options;
  const names = new Set(topics.map(({ topic }) => topic));
  await withAdmin(client, async (admin) => {
    const listed = async () => (await admin.listTopics()).filter((name) => names.has(name));
    const there = await listed();
    if (there.length > 0) await admin.deleteTopics({ topics: [...there] });
    // Kafka answers a deletion before it is complete.
    for (let tries = 1; (await listed()).length > 0; tries += 1) {
      if (tries === LED_TRIES_MAX) throw new TopicsMisfit(['topics are not deleted in time']);
      await pause(LED_PAUSE_MS);
    }
  });
  return (await createTopics(client, options)).created;
};

/** Returns one sentence for each fault of the topics; empty when all are as required. */
export const checkTopics = async (
  client: KafkaClient,
  topics: readonly TopicPlan[] = topicPlans(),
): Promise<readonly string[]> =>
  await withAdmin(client, async (admin) => {
    const { missing, misfits } = await compare(admin, topics);
    return [...missing.map(({ topic }) => `${topic} is missing`), ...misfits];
  });

/** Whether a broker answers and the cluster has a controller. */
export const kafkaAnswers = async (client: KafkaClient): Promise<boolean> => {
  try {
    return await withAdmin(client, async (admin) => {
      const { controller } = await admin.describeCluster();
      return controller !== null && controller >= 0;
    });
  } catch {
    return false;
  }
};

export class TopicsMisfit extends Error {
  override readonly name = 'TopicsMisfit';
  constructor(misfits: readonly string[]) {
    super(misfits.join('; '));
  }
}

/** The metadata names a topic's leaders before the leaders themselves know of it. */
const untilLed = async (admin: Admin, topic: string): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await admin.fetchTopicOffsets(topic);
      return;
    } catch (error) {
      if (tries === LED_TRIES_MAX) throw error;
      await pause(LED_PAUSE_MS);
    }
  }
};

const LED_TRIES_MAX = 150;
const LED_PAUSE_MS = 200;
const REPLICATION = 3;
const DAY_MS = 86_400_000;
const FOR_EVER = '-1';

const requestOf = ({ topic, partitions, retentionDays }: TopicPlan, replication: number) => ({
  topic,
  numPartitions: partitions,
  replicationFactor: replication,
  configEntries: [
    { name: 'cleanup.policy', value: 'delete' },
    {
      name: 'retention.ms',
      value: retentionDays === undefined ? FOR_EVER : String(retentionDays * DAY_MS),
    },
    { name: 'min.insync.replicas', value: String(Math.max(1, replication - 1)) },
  ],
});

const compare = async (admin: Admin, topics: readonly TopicPlan[]) => {
  const there = new Set(await admin.listTopics());
  const existing = topics.filter(({ topic }) => there.has(topic)).map(({ topic }) => topic);
  const found =
    existing.length === 0 ? [] : (await admin.fetchTopicMetadata({ topics: existing })).topics;
  const counts = new Map(found.map(({ name, partitions }) => [name, partitions.length]));
  const misfits = topics.flatMap(({ topic, partitions }) => {
    const count = counts.get(topic);
    if (count === undefined || count === partitions) return [];
    return [`${topic} has ${count} partitions instead of ${partitions}`];
  });
  return { missing: topics.filter(({ topic }) => !there.has(topic)), existing, misfits };
};

const withAdmin = async <T>(
  client: KafkaClient,
  work: (admin: Admin) => Promise<T>,
): Promise<T> => {
  const admin = client.connect({ retry: RETRY_SHORTLY }).admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await boundedEnd(admin.disconnect());
  }
};
