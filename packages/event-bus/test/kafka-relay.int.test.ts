import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IntegrationEvent } from '@cardea/contracts';
import { type KafkaServer, needKafka, processRig, startKafka, testDatabase } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { createTopics, kafkaClient, readTopic } from '../src/index.ts';
import { kafkaSide } from './kafka-rig.ts';
import { describeRelay } from './relay-suite.ts';
import { connect, EFFECTS, quiet } from './rig.ts';

/** Topics of relays are called after their logs, so this file has a broker of its own. */
const server = needKafka();
const folder = mkdtempSync(join(tmpdir(), 'cardea-kafka-relay-'));
const database = testDatabase();
const processes = processRig();
let client: Client;
let kafka: KafkaServer | undefined;
const brokers = () => kafka?.brokers ?? [];
const clientOf = () => kafkaClient({ brokers: brokers(), log: quiet });

beforeAll(async () => {
  if ('missing' in server) return;
  client = await connect(database.url);
  await client.query(EFFECTS);
  kafka = await startKafka({ dataDir: folder });
  await createTopics(clientOf(), { replication: 1 });
});
afterAll(async () => {
  await client?.end();
  await kafka?.kill();
  rmSync(folder, { recursive: true, force: true });
});

describeRelay('Kafka', () => ({
  url: database.url,
  client,
  processes,
  brokers: brokers().join(','),
  openBus: () => kafkaSide(database.url, brokers()),
  eventsOn: async (topic) =>
    (await readTopic(clientOf(), topic)).map(({ event }) => event as IntegrationEvent),
}));
