import { readFileSync } from 'node:fs';
import type { IntegrationEvent } from '@cardea/contracts';
import { eventSchemas } from '@cardea/documents';
import { testKafka } from '@cardea/testing';
import { Compile } from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KafkaClient, kafkaClient, kafkaPublisher, type Publisher } from '../src/index.ts';
import { quiet } from './bus-fixture.ts';
import { exampleConsumer, loginsIn, userEvents } from './example-fixture.ts';
import { makeTopics } from './kafka-fixture.ts';

const kafka = testKafka();
let client: KafkaClient;
let publisher: Publisher;
beforeAll(async () => {
  client = kafkaClient({ brokers: kafka.brokers, log: quiet });
  publisher = kafkaPublisher(client);
});
afterAll(() => publisher?.close());

const USERS = Array.from({ length: 30 }, (_, index) => `user${index}`);
const ROUNDS_OF_A_LIFE = 15;
/** A killed member is noticed only after ten seconds, so the test kills only twice. */
const LIVES = 2;

const topicFor = async (name: string): Promise<string> => {
  const topic = `cardea.${kafka.prefix}.${name}`;
  await makeTopics(kafka.brokers, [topic]);
  return topic;
};

/** Publishes a last event for every user. When all of them took effect, everything before was read. */
const markEnd = async (topic: string, word: string, of: ReturnType<typeof userEvents>) =>
  publisher.publish(
    topic,
    USERS.map((user) => of.renamed(user, word)),
  );
const everybodyIs =
  (word: string) => (now: { users: { [key: string]: { display_name: unknown } } }) =>
    USERS.every((user) => now.users[`acme/${user}`]?.display_name === word);

describe('The example consumer', () => {
  test('counts each login once, killed again and again, while records come twice', {
    timeout: 300_000,
  }, async () => {
    const topic = await topicFor('kills');
    const example = exampleConsumer(topic);
    const of = userEvents('epoch-1');
    try {
      await publisher.publish(
        topic,
        USERS.map((user) => of.created(user)),
      );
      let process = await example.start(kafka.brokers, `${kafka.prefix}.kills`);
      await example.until('everybody', everybodyIsThere);
      for (let life = 1; life <= LIVES; life += 1) {
        const before = loginsIn(example.directory() ?? nothing);
        const sending = sendRounds(topic, of);
        await example.until('more logins', (now) => loginsIn(now) > before);
        expect(await process.end('SIGKILL')).toBe('SIGKILL');
        await sending;
        process = await example.start(kafka.brokers, `${kafka.prefix}.kills`);
      }
      await markEnd(topic, 'end', of);
      await example.until('the end', everybodyIs('end'));
      expect(countsIn(example)).toEqual(USERS.map(() => LIVES * ROUNDS_OF_A_LIFE));

      // The group has no offsets in Kafka, so everything is delivered again from the beginning.
      expect(await process.end('SIGTERM')).toBe(0);
      await example.start(kafka.brokers, `${kafka.prefix}.kills-anew`);
      await markEnd(topic, 'second end', of);
      await example.until('the second end', everybodyIs('second end'));
      expect(countsIn(example)).toEqual(USERS.map(() => LIVES * ROUNDS_OF_A_LIFE));
    } finally {
      await example.close();
    }
  });

  test('forgets the deleted, takes null for erased, and stops at nothing that it does not know', async () => {
    const topic = await topicFor('strange');
    const example = exampleConsumer(topic);
    const of = userEvents('epoch-1');
    try {
      await example.start(kafka.brokers, `${kafka.prefix}.strange`);
      await publisher.publish(
        topic,
        USERS.map((user) => of.created(user)),
      );
      await putStrange(topic);
      const unknown = of.event('user.teleported', 'user1', { id: 'user1', to: 'Mars' });
      const newer = of.login('user1', { schemaVersion: 9 });
      const wider = of.created('wide', { later_field: { any: 'thing' } });
      const erased = of.created('erased', { email: null, display_name: null });
      const gone = [of.created('gone'), of.login('gone'), of.deleted('gone'), of.login('gone')];
      await publisher.publish(topic, [unknown, newer, wider, erased, ...gone]);
      await publisher.publish(topic, [unknown]);
      await markEnd(topic, 'end', of);
      await publisher.publish(
        topic,
        ['wide', 'erased'].map((user) => of.login(user)),
      );
      await example.until('the end', (now) => everybodyIs('end')(now) && loginsIn(now) === 2);
      const now = example.directory();
      expect(now?.unknown).toEqual({ 'user.teleported@1': 1, 'user.login@9': 1 });
      expect(now?.users['acme/wide']?.email).toBe('wide@example.com');
      expect(now?.users['acme/erased']).toMatchObject({ email: null, display_name: null });
      expect(readFileSync(example.stateFile, 'utf8')).not.toContain('gone');
    } finally {
      await example.close();
    }
  });

  test('counts what was parked once, and in a new epoch only what is new', async () => {
    const topic = await topicFor('epochs');
    const example = exampleConsumer(topic);
    const of = userEvents('epoch-1');
    try {
      await example.start(kafka.brokers, `${kafka.prefix}.epochs`);
      const late = [of.created('late'), of.login('late')].map(released);
      const created = USERS.map((user) => of.created(user));
      const old = USERS.map((user) => of.login(user));
      await publisher.publish(topic, [...created, ...old]);
      await publisher.publish(topic, late);
      await publisher.publish(topic, late);
      await publisher.publish(topic, [of.login('late')]);
      await example.until('all of the first epoch', (now) => loginsIn(now) === USERS.length + 2);

      // A restore undoes these events. Their positions are assigned to new ones.
      const undone = USERS.map((user) => of.login(user));
      await publisher.publish(topic, undone);
      await example.until('what is undone then', (now) => loginsIn(now) === 2 * USERS.length + 2);
      const restored = userEvents('epoch-2', Number(old.at(-1)?.position));
      const again = old.map((event) => ({ ...event, logEpoch: 'epoch-2' }));
      await publisher.publish(topic, [...again, ...USERS.map((user) => restored.login(user))]);
      const leftOver = USERS.map((user) => of.login(user, { position: '999999' }));
      await publisher.publish(topic, leftOver);
      await markEnd(topic, 'end', restored);
      await example.until('the end', everybodyIs('end'));
      expect(example.directory()).toMatchObject({ logEpoch: 'epoch-2', reconcile: true });
      expect(countsIn(example)).toEqual(USERS.map(() => 3));
    } finally {
      await example.close();
    }
  });
});

const nothing = { logEpoch: null, reconcile: false, users: {}, unknown: {} };
const released = (event: IntegrationEvent): IntegrationEvent => ({ ...event, released: true });
const everybodyIsThere = (now: { users: object }) => Object.keys(now.users).length === USERS.length;
const countsIn = (example: ReturnType<typeof exampleConsumer>) =>
  USERS.map((user) => example.directory()?.users[`acme/${user}`]?.logins);

/** In each round every user signs in. Every third round is sent again later. */
const sendRounds = async (topic: string, of: ReturnType<typeof userEvents>): Promise<void> => {
  const sent: IntegrationEvent[][] = [];
  for (let round = 0; round < ROUNDS_OF_A_LIFE; round += 1) {
    const events = USERS.map((user) => of.login(user));
    await publisher.publish(topic, events);
    sent.push(events);
    if (round % 3 === 2) await publisher.publish(topic, sent[round - 2] ?? []);
  }
};

/** Records that are not events: without headers, without JSON, without a value. */
const putStrange = async (topic: string): Promise<void> => {
  const producer = client.connect().producer();
  await producer.connect();
  const headers = { ce_specversion: '1.0', ce_position: '7' };
  await producer.send({
    topic,
    messages: [
      { key: 'acme:user-user1', value: 'no JSON' },
      { key: 'acme:user-user1', value: '{"half":', headers },
      { key: 'acme:user-user1', value: null, headers },
    ],
  });
  await producer.disconnect();
};

describe('A record on the topic', () => {
  const schema = (file: string) => Compile(JSON.parse(eventSchemas().get(file) ?? ''));

  test('has the headers and the value that subscribers are told of', async () => {
    const topic = await topicFor('told');
    const of = userEvents('epoch-1');
    const whole = {
      ...{ part: 1, released: true as const, correlationId: 'c', causationId: 'd' },
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    await publisher.publish(topic, [of.login('plain'), of.login('whole', whole)]);
    const records = await rawRecords(topic, 2);
    const headers = schema('headers.v1.json');
    const told = JSON.parse(eventSchemas().get('headers.v1.json') ?? '');
    for (const record of records) {
      expect(headers.Errors(record.headers)).toEqual([true, []]);
      expect(schema('identity/user.login.v1.json').Check(JSON.parse(record.value))).toBe(true);
      const { ce_tenantid, ce_subject } = record.headers;
      expect(record.key).toBe(`${ce_tenantid}:${ce_subject}`);
    }
    const seen = new Set(records.flatMap((record) => Object.keys(record.headers)));
    expect([...seen].sort()).toEqual(Object.keys(told.properties).sort());
    const [plain] = records.filter(({ key }) => key.endsWith('plain'));
    const alwaysThere = told.required.concat('ce_logepoch');
    expect(Object.keys(plain?.headers ?? {}).sort()).toEqual(alwaysThere.sort());
  });
});

type Raw = {
  readonly key: string;
  readonly value: string;
  readonly headers: { [name: string]: string };
};

const rawRecords = async (topic: string, count: number): Promise<readonly Raw[]> => {
  const consumer = client.connect().consumer({ groupId: `${kafka.prefix}.raw` });
  const records: Raw[] = [];
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise<void>((done, failed) => {
      consumer
        .run({
          eachMessage: async ({ message: { key, value, headers = {} } }) => {
            const texts = Object.entries(headers).map(([name, text]) => [name, String(text)]);
            records.push({
              key: String(key),
              value: String(value),
              headers: Object.fromEntries(texts),
            });
            if (records.length === count) done();
          },
        })
        .catch(failed);
    });
    return records;
  } finally {
    await consumer.disconnect();
  }
};
