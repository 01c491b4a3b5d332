/**
 * One side of the relay's row as a process: the relay over a whole log, or the bare driver with the same
 * records.
 */
import { kindOf, topicOf } from '@cardea/contracts';
import {
  createTopics,
  forgetting,
  kafkaClient,
  kafkaPublisher,
  type RelayMapper,
  startRelay,
} from '@cardea/event-bus';
import { postgresEventStore } from '@cardea/event-store';
import { processSession } from '@cardea/postgres';
import { openDatabase } from '@cardea/read-models';
import { inProcessCache, logger, loops, systemClock } from '@cardea/runtime';
import { type Measured, measurePasses, serveMeasurements } from '../harness.ts';
import { benchSealer, LOG } from '../subjects/relay-log.ts';

const [kind = '', connectionString = '', broker = '', eventsText = '0'] = process.argv.slice(2);
const events = Number(eventsText);
const log = logger({ service: 'bench', version: '0.1.0', level: 'error' });
const client = kafkaClient({ brokers: [broker], log });
const BATCH = 500;
const FLOOR_TOPIC = 'bench.floor';

const map: RelayMapper = ({ type, data }) =>
  type === 'TupleWritten' ? { type: 'tuple.written', data } : undefined;

async function relaying(): Promise<(seconds: number) => Promise<Measured>> {
  const store = postgresEventStore({ connectionString, role: 'cardea_app', log: LOG });
  const database = openDatabase({ connectionString, log });
  const locks = processSession({ connectionString, clock: systemClock, log });
  const publisher = kafkaPublisher(client);
  const sealer = benchSealer(connectionString);
  const pass = async (): Promise<number> => {
    await database.system.query('UPDATE bus.relay_checkpoints SET position = 0');
    let sent = 0;
    const whole = Promise.withResolvers<void>();
    const relay = startRelay(
      { log: LOG, map },
      {
        store,
        publisher,
        database,
        schema: LOG,
        bus: database,
        locks,
        cache: inProcessCache(systemClock),
        sealer,
        kindOf,
        clock: systemClock,
        loops: loops(systemClock),
        log,
        counted: ({ published }) => {
          sent += published;
          if (sent >= events) whole.resolve();
        },
      },
    );
    await whole.promise;
    await relay.stop();
    return sent;
  };
  return (seconds) => measurePasses(seconds, events, pass);
}

/** Sends the records that the relay has made with the driver alone. */
async function sending(): Promise<(seconds: number) => Promise<Measured>> {
  await createTopics(client, { replication: 1, topics: [forgetting(FLOOR_TOPIC)] });
  const messages = await records();
  const producer = client
    .connect()
    .producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
  await producer.connect();
  const pass = async (): Promise<number> => {
    for (let from = 0; from < messages.length; from += BATCH) {
      const slice = messages.slice(from, from + BATCH);
      await producer.sendBatch({
        acks: -1,
        topicMessages: [{ topic: FLOOR_TOPIC, messages: slice }],
      });
    }
    return messages.length;
  };
  return (seconds) => measurePasses(seconds, events, pass);
}

type Lying = { key: Buffer | null; value: Buffer | null; headers: { [name: string]: string } };

async function records(): Promise<readonly Lying[]> {
  const consumer = client.connect().consumer({ groupId: `bench.${process.pid}` });
  await consumer.connect();
  await consumer.subscribe({ topics: [topicOf(LOG)], fromBeginning: true });
  const found: Lying[] = [];
  const whole = Promise.withResolvers<void>();
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch }) => {
      for (const { key, value, headers = {} } of batch.messages) {
        const plain = Object.entries(headers).map(([name, text]) => [name, String(text)]);
        found.push({ key, value, headers: Object.fromEntries(plain) });
      }
      if (found.length >= events) whole.resolve();
    },
  });
  await whole.promise;
  await consumer.disconnect();
  return found.slice(0, events);
}

serveMeasurements(kind === 'relay' ? await relaying() : await sending());
