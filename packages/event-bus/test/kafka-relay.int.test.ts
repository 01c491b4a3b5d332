import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IntegrationEvent, topicOf } from '@cardea/contracts';
import {
  type KafkaServer,
  needKafka,
  processFixture,
  startKafka,
  testDatabase,
  testForm,
  untilTrue,
} from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTopics, forgetting, kafkaClient, readTopic, remakeTopics } from '../src/index.ts';
import {
  connect,
  countingConsumer,
  countOf,
  EFFECTS,
  effectsOf,
  quiet,
  upTo,
} from './bus-fixture.ts';
import { kafkaSide } from './kafka-fixture.ts';
import { loseAndReplay } from './lost-records-suite.ts';
import { appendRound, relaySide } from './relay-fixture.ts';
import { describeRelay } from './relay-suite.ts';

const KILLS = testForm.long ? 10 : 1;
const LOAD_MS = 1000;

/** Relays name topics after their logs, so this file needs a broker of its own. */
const server = needKafka();
const folder = mkdtempSync(join(tmpdir(), 'cardea-kafka-relay-'));
const database = testDatabase();
const processes = processFixture();
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
  publishesOnce: false,
  openBus: () => kafkaSide(database.url, brokers()),
  eventsOn: async (topic) =>
    (await readTopic(clientOf(), topic)).map(({ event }) => event as IntegrationEvent),
}));

describe('H3 records that Kafka lost before they were read', () => {
  const lose = {
    'were deleted': async (topic: string) => {
      const admin = clientOf().connect().admin();
      await admin.connect();
      const ends = await admin.fetchTopicOffsets(topic);
      const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
      await admin.deleteTopicRecords({ topic, partitions });
      await admin.disconnect();
    },
    'went with their topic': async (topic: string) => {
      await remakeTopics(clientOf(), { replication: 1, topics: [forgetting(topic)] });
    },
  };
  const logs = { 'were deleted': 'vault', 'went with their topic': 'webhooks' } as const;
  it.each(['were deleted', 'went with their topic'] as const)(
    'and that %s are published again, and applied once each, in order',
    { timeout: 240_000 },
    async (how) => {
      await loseAndReplay({
        ...{ url: database.url, client, log: logs[how], lose: lose[how] },
        openBus: () => kafkaSide(database.url, brokers()),
      });
    },
  );
});

it('a broker that is killed under load loses nothing and doubles no effect', {
  timeout: (KILLS + 2) * 60_000,
}, async () => {
  const log = 'identity';
  const side = relaySide(database.url, log, kafkaSide(database.url, brokers()));
  const streams = upTo(20).map((number) => `loaded-${number}`);
  const relay = side.start();
  await side.subscriber.run(countingConsumer('loaded', topicOf(log)));
  let number = 0;
  const load = async (ms: number): Promise<void> => {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      number += 1;
      await appendRound(side.store, streams, number);
    }
  };
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await load(LOAD_MS);
    await kafka?.kill();
    await load(LOAD_MS);
    await kafka?.restart();
  }
  const seen = () => effectsOf(client, 'loaded');
  await untilTrue(async () => countOf(await seen()) >= number * streams.length, {
    deadlineMs: 60_000,
    what: 'all effects',
  });
  await relay.stop();
  await side.close();
  const effects = await seen();
  for (const stream of streams) expect(effects.get(stream)).toEqual(upTo(number));
});
