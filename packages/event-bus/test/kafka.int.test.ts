import { randomUUID } from 'node:crypto';
import { processFixture, testDatabase, testKafka, untilTrue } from '@cardea/testing';
import kafkajs, { type PartitionAssigner } from 'kafkajs';
import type { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AUDIT_CHECKPOINTS_TOPIC,
  checkTopics,
  createTopics,
  forgetting,
  type KafkaSubscriberDependencies,
  kafkaClient,
  kafkaPublisher,
  keyOf,
  partitionOf,
  readTopic,
  remakeTopics,
  topicPlans,
} from '../src/index.ts';
import {
  connect,
  countedEvent,
  countedEvents,
  countingConsumer,
  countOf,
  EFFECTS,
  effectsOf,
  isLevel,
  quiet,
  upTo,
} from './bus-fixture.ts';
import { describeBus } from './conformance.ts';
import { type KafkaSide, kafkaSide, makeTopics, topicsOfConsumer } from './kafka-fixture.ts';

const testing = testDatabase();
const kafka = testKafka();
const processes = processFixture();
let client: Client;
beforeAll(async () => {
  client = await connect(testing.url);
  await client.query(EFFECTS);
});
afterAll(() => client?.end());

const clientOf = () => kafkaClient({ brokers: kafka.brokers, log: quiet });

describeBus('Kafka', () => ({
  url: testing.url,
  processes,
  brokers: kafka.brokers.join(','),
  createTopics: (topics) => makeTopics(kafka.brokers, topics),
  open: () => kafkaSide(testing.url, kafka.brokers),
  client: () => client,
  recordsOf: (topic) => readTopic(clientOf(), topic),
  putForeign: async (topic, key, value) => {
    const producer = clientOf().connect().producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ key, value: JSON.stringify(value) }] });
    await producer.disconnect();
  },
}));

describe('Kafka', () => {
  it('makes topics anew, empty, with their offsets from 0 on', async () => {
    const named = topicPlans([]).map((plan) => `${kafka.prefix}-anew-${plan.topic}`);
    const plans = named.map(forgetting);
    const topic = named.at(-1) ?? '';
    const options = { replication: 1, topics: plans };
    await createTopics(clientOf(), { ...options, topics: plans.slice(1) });
    const publisher = kafkaPublisher(clientOf());
    await publisher.publish(topic, [countedEvent('anew', 1, 1)]);
    await publisher.close();
    expect(await readTopic(clientOf(), topic)).toHaveLength(1);
    expect(await remakeTopics(clientOf(), options)).toEqual(named);
    expect(await readTopic(clientOf(), topic)).toEqual([]);
    expect(await checkTopics(clientOf(), plans)).toEqual([]);
  });

  let sides: KafkaSide[];
  let name: string;
  let topic: string;
  const open = (over: Partial<KafkaSubscriberDependencies> = {}): KafkaSide => {
    const side = kafkaSide(testing.url, kafka.brokers, over);
    sides.push(side);
    return side;
  };
  const effects = () => effectsOf(client, name);
  const allOf = (count: number) =>
    untilTrue(async () => countOf(await effects()) >= count, {
      what: `${count} effects`,
      deadlineMs: 60_000,
    });
  beforeEach(async () => {
    sides = [];
    name = `${kafka.prefix}-${randomUUID().slice(0, 8)}`;
    [topic = ''] = topicsOfConsumer(name);
    await makeTopics(kafka.brokers, topicsOfConsumer(name));
  });
  afterEach(async () => {
    await Promise.all(sides.map((side) => side.close()));
  });

  it('hands the partitions of a member that leaves to the other at once, whatever is under way', async () => {
    const [one, two] = [open(), open()];
    await one.subscriber.run(countingConsumer(name, topic));
    await two.subscriber.run(countingConsumer(name, topic));
    const events = countedEvents(2000, 40);
    for (let from = 0; from < events.length; from += 100) {
      await one.publisher.publish(topic, events.slice(from, from + 100));
      if (from === 1000) void one.subscriber.close();
    }
    await allOf(2000);
    const seen = await effects();
    for (const numbers of seen.values()) expect(numbers).toEqual(upTo(50));
  });

  it('takes repeats and what other partitions bring in between for what they are', async () => {
    const { publisher, subscriber } = open();
    const events = countedEvents(600, 12);
    const again = [...events, ...events.slice(100, 300), ...events.slice(0, 450), ...events];
    await publisher.publish(topic, again);
    await subscriber.run(countingConsumer(name, topic));
    await publisher.publish(topic, events);
    await publisher.publish(topic, [countedEvent('thing-0', 51, 601)]);
    await untilTrue(() => isLevel(subscriber, name, [topic]), { deadlineMs: 60_000 });
    const seen = await effects();
    expect(countOf(seen)).toBe(601);
    for (const numbers of seen.values()) expect(numbers).toEqual(upTo(numbers.length));
  });

  it('sends in parts what is more than a broker takes at once', async () => {
    const { publisher } = open();
    const large = countedEvents(25, 1).map((event) => ({
      ...event,
      data: { ...event.data, text: 'x'.repeat(100_000) },
    }));
    await publisher.publish(topic, large);
    const lying = await readTopic(clientOf(), topic);
    expect(lying.map(({ event }) => (event as { id: string }).id)).toEqual(
      large.map(({ id }) => id),
    );
  });

  it('lets a partition stand still, and says so, when the topic does not hold the stored offset', async () => {
    const { publisher, subscriber, degraded } = open();
    const events = countedEvents(40, 40);
    await publisher.publish(topic, events);
    const running = await subscriber.run(countingConsumer(name, topic));
    await allOf(40);
    await running.stop();
    const partition = partitionOf(keyOf(events[0] as never));
    const beyond = `UPDATE identity.consumer_positions SET "offset" = 1000
                    WHERE consumer = $1 AND topic = $2 AND partition = $3`;
    await client.query(beyond, [name, topic, partition]);
    const more = countedEvents(40, 40).map((event, index) => ({
      ...event,
      position: String(41 + index),
    }));
    const elsewhere = more.filter((event) => partitionOf(keyOf(event)) !== partition);
    await publisher.publish(topic, more);
    await subscriber.run(countingConsumer(name, topic));
    await allOf(40 + elsewhere.length);
    await untilTrue(() => degraded().some((reason) => reason.includes('lapsed')));
    expect(countOf(await effects())).toBe(40 + elsewhere.length);
  });

  it('says that the group will not have it, and joins when it will', async () => {
    const other: PartitionAssigner = () => ({
      name: 'other',
      version: 0,
      assign: async ({ members }) =>
        members.map(({ memberId }) => ({ memberId, memberAssignment: Buffer.alloc(0) })),
      protocol: () => ({ name: 'other', metadata: Buffer.alloc(0) }),
    });
    const foreign = clientOf()
      .connect()
      .consumer({ groupId: `cardea.${name}`, partitionAssigners: [other] });
    await foreign.connect();
    await foreign.subscribe({ topics: [topic] });
    const joined = new Promise((resolve) => foreign.on(foreign.events.GROUP_JOIN, resolve));
    void foreign.run({ eachMessage: async () => {} });
    await joined;
    const { subscriber, publisher, degraded } = open();
    await subscriber.run(countingConsumer(name, topic));
    await untilTrue(() => degraded().some((reason) => reason.startsWith('cannot join')));
    await publisher.publish(topic, countedEvents(3, 1));
    await foreign.disconnect();
    await allOf(3);
    await untilTrue(() => degraded().length === 0);
  });

  it('waits for topics that are not made yet, and goes on when they are', async () => {
    const { subscriber, degraded, publisher } = open();
    const late = `${topic}.late`;
    await subscriber.run(countingConsumer(name, late));
    await untilTrue(() => degraded().length > 0);
    await makeTopics(kafka.brokers, [late]);
    await publisher.publish(late, countedEvents(3, 1));
    await allOf(3);
    await untilTrue(() => degraded().length === 0);
  });

  it('makes the topics of the product once, and refuses one with other partitions', async () => {
    const plans = topicPlans([name]).map((plan) => ({ ...plan, topic: `${name}.${plan.topic}` }));
    const made = await createTopics(clientOf(), { replication: 1, topics: plans });
    expect(made.created.length).toBe(plans.length);
    expect(await createTopics(clientOf(), { replication: 1, topics: plans })).toEqual({
      created: [],
      existing: plans.map((plan) => plan.topic),
    });
    expect(await checkTopics(clientOf(), plans)).toEqual([]);
    const misfit = [{ topic, partitions: 5, retentionDays: 7 }];
    await expect(createTopics(clientOf(), { replication: 1, topics: misfit })).rejects.toThrow(
      `${topic} has 12 partitions instead of 5`,
    );
    expect(await checkTopics(clientOf(), [...misfit, forgetting(`${name}.none`)])).toEqual([
      `${name}.none is missing`,
      `${topic} has 12 partitions instead of 5`,
    ]);
    const kept = await retentionOf(`${name}.${AUDIT_CHECKPOINTS_TOPIC}`);
    expect([kept, await retentionOf(topic)]).toEqual(['-1', '604800000']);
  });

  const retentionOf = async (of: string): Promise<string | undefined> => {
    const admin = clientOf().connect().admin();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: of, configNames: ['retention.ms'] },
      ],
    });
    await admin.disconnect();
    return resources[0]?.configEntries[0]?.configValue;
  };
});
