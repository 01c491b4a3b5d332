/** Kafka users for single services, on a real broker: each is refused what it may not do. */
import { randomUUID } from 'node:crypto';
import { LISTENS_TO, SERVICE_NAMES, type ServiceName, topicOf } from '@cardea/contracts';
import {
  AUDIT_CHECKPOINTS_TOPIC,
  createTopics,
  deadLetterTopicOf,
  type KafkaUser,
  kafkaClient,
  makeKafkaUsers,
  topicPlans,
} from '@cardea/event-bus';
import { secret } from '@cardea/runtime';
import { silentLogger, testKafka, untilTrue } from '@cardea/testing';
import { Kafka, logLevel } from 'kafkajs';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

const server = testKafka();
const run = randomUUID().slice(0, 8);
const users: readonly KafkaUser[] = SERVICE_NAMES.map((service) => ({
  service,
  name: `cardea_${service}_${run}`,
  password: secret(randomUUID()),
}));
const ALL_TOPICS = topicPlans().map(({ topic }) => topic);
const START_MS_MAX = 240_000;

const driverOf = (service: ServiceName, password?: string): Kafka => {
  const user = users.find((each) => each.service === service);
  return new Kafka({
    brokers: [...(server.brokersForUsers ?? [])],
    sasl: {
      mechanism: 'scram-sha-512',
      username: user?.name ?? '',
      password: password ?? user?.password.reveal() ?? '',
    },
    logLevel: logLevel.NOTHING,
    retry: { retries: 1 },
  });
};
/** `done`, or the type of the refusal. */
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { type?: string; cause?: { type?: string } }) =>
      error.type ?? error.cause?.type ?? String(error),
  );

beforeAll(async () => {
  if (server.brokersForUsers === undefined) return;
  const client = kafkaClient({ brokers: server.brokers, log: silentLogger });
  await createTopics(client, { replication: 1 });
  await makeKafkaUsers(client, users);
  // Running it a second time changes nothing.
  await makeKafkaUsers(client, users);
}, START_MS_MAX);
beforeEach((context) => {
  if (server.brokersForUsers === undefined) context.skip('a broker that was given has no users');
});

describe('S25 the user of a service', () => {
  it('writes to the topics of its service, and to none of another one', async () => {
    for (const { service } of users) {
      const producer = driverOf(service).producer({ idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      const own = [
        ...[topicOf(service), deadLetterTopicOf(service)],
        ...(service === 'audit' ? [AUDIT_CHECKPOINTS_TOPIC] : []),
      ];
      for (const topic of ALL_TOPICS) {
        const said = await outcome(
          producer.send({ topic, messages: [{ key: 'k', value: '{}' }], acks: -1 }),
        );
        expect(said, `${service} at ${topic}`).toBe(
          own.includes(topic) ? 'done' : 'TOPIC_AUTHORIZATION_FAILED',
        );
      }
      await producer.disconnect();
    }
  }, 120_000);

  it('sees the topics that it reads or writes, and reads no other', async () => {
    for (const { service } of users) {
      const admin = driverOf(service).admin();
      await admin.connect();
      const seen = new Set([...LISTENS_TO[service], service].map(topicOf));
      seen.add(deadLetterTopicOf(service));
      if (service === 'audit') seen.add(AUDIT_CHECKPOINTS_TOPIC);
      expect(
        (await admin.listTopics()).filter((topic) => topic.startsWith('cardea.')).toSorted(),
      ).toEqual([...seen].toSorted());
      for (const topic of ALL_TOPICS.filter((each) => !seen.has(each))) {
        expect(await outcome(admin.fetchTopicOffsets(topic))).toBe('TOPIC_AUTHORIZATION_FAILED');
      }
      await admin.disconnect();
    }
  }, 120_000);

  it('joins the group of its own consumer alone', async () => {
    const joined = async (groupId: string): Promise<boolean> => {
      const consumer = driverOf('webhooks').consumer({ groupId });
      await consumer.connect();
      await consumer.subscribe({ topics: [topicOf('identity')] });
      const { promise, resolve } = Promise.withResolvers<boolean>();
      consumer.on('consumer.group_join', () => resolve(true));
      // The driver reports a group that it may not see as one without a coordinator.
      consumer.on('consumer.crash', () => resolve(false));
      consumer.run({ eachMessage: async () => undefined }).catch(() => resolve(false));
      return await promise.finally(() => consumer.disconnect());
    };
    // The first group of a cluster waits until the brokers have created the topic of their offsets.
    await untilTrue(() => joined('cardea.webhooks'), { what: 'its own group' });
    for (const groupId of ['cardea.audit', 'cardea.vault', 'cardea.reader.x']) {
      expect(await joined(groupId), groupId).toBe(false);
    }
  }, 120_000);

  it('makes no topic, drops no topic, and gives itself no rights', async () => {
    const admin = driverOf('vault').admin();
    await admin.connect();
    const made = admin.createTopics({ topics: [{ topic: `x${run}` }], waitForLeaders: false });
    expect(await outcome(made)).not.toBe('done');
    expect(await outcome(admin.deleteTopics({ topics: [topicOf('vault')] }))).not.toBe('done');
    await admin.disconnect();
    const { brokersForUsers: brokers = [] } = server;
    const [vault] = users.filter(({ service }) => service === 'vault');
    const client = kafkaClient({
      ...{ brokers, log: silentLogger },
      ...{ username: secret(vault?.name ?? ''), password: vault?.password },
    });
    await expect(makeKafkaUsers(client, users)).rejects.toThrow();
  });

  it('does not log in with a wrong password', async () => {
    const admin = driverOf('vault', 'wrong').admin();
    await expect(admin.connect()).rejects.toThrow(/authentication failed/i);
  });
});
