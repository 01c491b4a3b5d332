import { testDatabase, testKafka } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { kafkaClient, readTopic } from '../src/index.ts';
import { describeBus } from './conformance.ts';
import { kafkaSide, makeTopics } from './kafka-rig.ts';
import { connect, EFFECTS, quiet } from './rig.ts';

const testing = testDatabase();
const kafka = testKafka();
let client: Client;
beforeAll(async () => {
  client = await connect(testing.url);
  await client.query(EFFECTS);
});
afterAll(() => client?.end());

const clientOf = () => kafkaClient({ brokers: kafka.brokers, log: quiet });

describeBus('Kafka', () => ({
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
