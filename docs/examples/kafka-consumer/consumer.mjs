/**
 * Reads a topic of Cardea into a file: how often each user has signed in, and who they are. It may be
 * killed at any moment; when it is started again, it goes on where its file stands.
 *
 *   KAFKA_BROKERS=localhost:9092 STATE_FILE=directory.json node consumer.mjs
 */
import { Kafka, logLevel } from 'kafkajs';
import { apply } from './apply.mjs';
import { readEnvelope } from './envelope.mjs';
import { openStateFile } from './state-file.mjs';

const {
  KAFKA_BROKERS = 'localhost:9092',
  TOPIC = 'cardea.identity.events.v1',
  GROUP = 'directory',
  STATE_FILE = 'directory.json',
} = process.env;

const file = await openStateFile(STATE_FILE);
const kafka = new Kafka({
  clientId: GROUP,
  brokers: KAFKA_BROKERS.split(','),
  logLevel: logLevel.ERROR,
});
const consumer = kafka.consumer({
  groupId: GROUP,
  // When a process was killed, the next one gets its partitions after this time.
  sessionTimeout: 10_000,
  allowAutoTopicCreation: false,
});

// Whatever kafkajs does not try again by itself is for whoever runs this program to see.
consumer.on(consumer.events.CRASH, ({ payload }) => {
  if (!payload.restart) end(payload.error);
});
consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  const partitions = payload.memberAssignment[TOPIC] ?? [];
  console.log(`Reading ${TOPIC}: ${partitions.length} partitions, into ${STATE_FILE}`);
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    consumer.disconnect().then(() => process.exit(0), end);
  });
}

await consumer.connect();
// Whoever is new begins with the oldest record that is still there.
await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: readBatch });

async function readBatch({ batch, heartbeat, resolveOffset, isRunning, isStale }) {
  const { partition, messages } = batch;
  if (!isRunning() || isStale()) return;
  // First the effects and the positions, together; then Kafka's offset, which only saves reading again.
  await file.change((state) => {
    for (const message of messages) {
      const event = readEnvelope(message);
      if (event !== undefined) apply(state, partition, event);
      else console.error(`Skipped: partition ${partition}, offset ${message.offset} is no event.`);
    }
  });
  const last = messages.at(-1);
  if (last === undefined) return;
  resolveOffset(last.offset);
  const offset = String(BigInt(last.offset) + 1n);
  await consumer.commitOffsets([{ topic: batch.topic, partition, offset }]);
  await heartbeat();
}

function end(error) {
  console.error(error);
  process.exit(1);
}
