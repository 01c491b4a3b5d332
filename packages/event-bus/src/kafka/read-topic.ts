import { randomUUID } from 'node:crypto';
import type { Consumer } from 'kafkajs';
import { laneKey } from '../consuming/consumer-positions.ts';
import { boundedEnd } from './bounded.ts';
import { eventIn } from './cloud-event.ts';
import type { KafkaClient } from './kafka-client.ts';
import { topicEnds } from './topic-ends.ts';

/** A record as stored on a topic. `event` is the parsed value if the record has no envelope. */
export type LyingRecord = {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly event: unknown;
};

/** All records of a topic at the time of the call, by partition and offset. For tests and for inspection. */
export const readTopic = async (
  client: KafkaClient,
  topic: string,
): Promise<readonly LyingRecord[]> => {
  const ends = topicEnds(client);
  const partitions = (await ends.of([topic])).filter(({ low, high }) => high > low);
  await ends.close();
  if (partitions.length === 0) return [];
  const open = new Map(partitions.map((each) => [laneKey(each), each.high]));
  const consumer = client.connect().consumer({ groupId: `cardea.reader.${randomUUID()}` });
  try {
    const records = await readUntil(consumer, topic, open);
    return records.toSorted(
      (a, b) => a.partition - b.partition || Number(a.offset) - Number(b.offset),
    );
  } finally {
    await boundedEnd(consumer.disconnect());
  }
};

const readUntil = async (
  consumer: Consumer,
  topic: string,
  open: Map<string, bigint>,
): Promise<readonly LyingRecord[]> => {
  const records: LyingRecord[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        autoCommit: false,
        eachBatch: async ({ batch: { partition, messages } }) => {
          const end = open.get(laneKey({ topic, partition })) ?? 0n;
          for (const { offset, key, headers, value } of messages) {
            if (BigInt(offset) >= end) break;
            const event = eventIn({ headers, value });
            records.push({ topic, partition, offset, key: key?.toString() ?? '', event });
          }
          if (BigInt(messages.at(-1)?.offset ?? -1) >= end - 1n)
            open.delete(laneKey({ topic, partition }));
          if (open.size === 0) resolve();
        },
      })
      .catch(reject);
  });
  return records;
};
