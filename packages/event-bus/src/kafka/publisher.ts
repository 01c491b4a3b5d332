import type { IntegrationEvent } from '@cardea/contracts';
import { Outage } from '@cardea/runtime';
import type { Producer } from 'kafkajs';
import type { Publisher } from '../bus.ts';
import type { DeadLetter, DeadLetters } from '../consuming/dead-letter.ts';
import { partitionOf } from '../partition.ts';
import { bounded, boundedEnd, KafkaUnavailable } from './bounded.ts';
import { type OutgoingRecord, recordOf } from './cloud-event.ts';
import { type KafkaClient, kafkaDriver, RETRY_FOR_EVER } from './kafka-client.ts';
import { topicEnds } from './topic-ends.ts';

/**
 * Publishes to Kafka. A record counts as sent when all in-sync replicas have it. The brokers drop the driver's own
 * repeats by sequence number. A topic gets one batch at a time.
 */
export const kafkaPublisher = (client: KafkaClient): Publisher & DeadLetters => {
  const senders = new Map<string, TopicSender>();
  const ends = topicEnds(client);
  const send = async (topic: string, records: readonly OutgoingRecord[]): Promise<void> => {
    let sender = senders.get(topic);
    if (sender === undefined) {
      sender = topicSender(client, topic);
      senders.set(topic, sender);
    }
    for (const batch of batchesOf(records)) await sender.send(batch);
  };
  return {
    publish: (topic, events: readonly IntegrationEvent[]) => send(topic, events.map(recordOf)),
    putAway: (topic, letters) => send(topic, letters.map(letterOf)),
    ends: async (topic) => {
      await senders.get(topic)?.settled();
      const found = await ends.of([topic]);
      if (found.length === 0) throw new TopicMissing(topic);
      return found;
    },
    close: async () => {
      await Promise.all([...senders.values()].map((sender) => sender.close()));
      await ends.close();
    },
  };
};

/** Each topic has its own producer, so that a missing topic does not block the others. */
type TopicSender = {
  send(records: readonly OutgoingRecord[]): Promise<void>;
  /** Resolves when nothing is being sent any more. Throws when no broker answers. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

const topicSender = (client: KafkaClient, topic: string): TopicSender => {
  let producer: Promise<Producer> | undefined;
  let sending: { readonly name: string; readonly done: Promise<void> } | undefined;
  /** Whether the last wait timed out. The next caller then waits only briefly, so that its process can stop. */
  let isAway = false;

  const connect = async (): Promise<Producer> => {
    const made = client.connect({ retry: RETRY_FOR_EVER }).producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: kafkaDriver().Partitioners.DefaultPartitioner,
      retry: RETRY_FOR_EVER,
      metadataMaxAge: METADATA_MS_MAX,
      allowAutoTopicCreation: false,
    });
    await made.connect();
    return made;
  };
  const transmit = async (records: readonly OutgoingRecord[]): Promise<void> => {
    producer ??= connect();
    const used = producer;
    try {
      await (await used).sendBatch({
        acks: ALL,
        topicMessages: [{ topic, messages: [...records] }],
      });
    } catch (error) {
      // The broker may have refused the producer's sequence numbers: the next send uses a new producer.
      producer = undefined;
      void boundedEnd(used.then((one) => one.disconnect()));
      throw error;
    } finally {
      sending = undefined;
    }
  };
  const untilOver = async (work: Promise<void>): Promise<void> => {
    try {
      await bounded(work, isAway ? AWAY_WAIT_MS_MAX : SEND_WAIT_MS_MAX);
    } catch (error) {
      isAway = error instanceof KafkaUnavailable;
      throw error;
    }
  };
  return {
    send: async (records) => {
      const name = nameOf(records);
      // A caller that stopped waiting calls again with the same records while they are still being sent.
      while (sending !== undefined && sending.name !== name) {
        await bounded(
          sending.done.catch(() => {}),
          SEND_WAIT_MS_MAX,
        );
      }
      if (sending === undefined) {
        const done = transmit(records);
        done.catch(() => {}); // The waiting caller gets the error. There may be no such caller.
        sending = { name, done };
      }
      await untilOver(sending.done);
      isAway = false;
    },
    settled: async () => {
      if (sending !== undefined)
        await bounded(
          sending.done.catch(() => {}),
          SEND_WAIT_MS_MAX,
        );
    },
    close: async () => {
      if (producer !== undefined)
        await boundedEnd(
          producer.then((one) => one.disconnect()),
          isAway,
        );
    },
  };
};

/** The topics are not created yet, so the publisher waits. */
class TopicMissing extends Outage {
  override readonly name = 'TopicMissing';
}

const ALL = -1;
const METADATA_MS_MAX = 60_000;
/** After this time the caller reports that it is blocked, and tries again. */
const SEND_WAIT_MS_MAX = 5000;
const AWAY_WAIT_MS_MAX = 300;
const BATCH_RECORDS_MAX = 500;
/** Brokers take at most a megabyte per partition, and all records of a batch may go to one. */
const BATCH_BYTES_MAX = 900_000;
const HEADERS_BYTES = 700;

const letterOf = (letter: DeadLetter): OutgoingRecord => ({
  key: letter.key,
  partition: partitionOf(letter.key),
  value: Buffer.from(JSON.stringify(letter)),
});

const nameOf = (records: readonly OutgoingRecord[]): string =>
  [records[0], records.at(-1)]
    .map((record) => record?.headers?.['ce_id'] ?? `${record?.key}:${record?.value}`)
    .concat(String(records.length))
    .join('/');

const batchesOf = (records: readonly OutgoingRecord[]): readonly (readonly OutgoingRecord[])[] => {
  const batches: OutgoingRecord[][] = [];
  let open: OutgoingRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = record.value.length + HEADERS_BYTES;
    if (open.length === BATCH_RECORDS_MAX || (open.length > 0 && bytes + size > BATCH_BYTES_MAX)) {
      batches.push(open);
      open = [];
      bytes = 0;
    }
    open.push(record);
    bytes += size;
  }
  if (open.length > 0) batches.push(open);
  return batches;
};
