/** From an adapter's records to events: what has no readable envelope is put away as a dead letter. */
import { metrics } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import { type DeadLetter, deadLetterTopicOf } from './dead-letter.ts';
import type { Opened } from './lane-moves.ts';
import { readable } from './readable.ts';
import type { ConsumerDependencies, RawRecord, SkippedRecord } from './records.ts';

/** Records without a readable envelope become dead letters; their offsets still count. */
export const openAll = async (
  { consumer, needs }: { readonly consumer: Consumer; readonly needs: ConsumerDependencies },
  records: readonly RawRecord[],
): Promise<readonly Opened[]> => {
  const letters: DeadLetter[] = [];
  const opened = records.map((record): Opened => {
    const { topic, partition, offset, key, value } = record;
    const read = readable(value);
    if (read.event === undefined) {
      letters.push({ key, from: { topic, partition, offset }, faults: read.faults, value });
    }
    return { topic, partition, offset: BigInt(offset), event: read.event };
  });
  if (letters.length > 0) {
    await needs.deadLetters.putAway(deadLetterTopicOf(consumer.name), letters);
    needs.counted?.('dead_letter', consumer.name, letters.length);
    metrics.deadLetters.inc({ consumer: consumer.name }, letters.length);
    needs.log.error(
      { consumer: consumer.name, count: letters.length, from: letters[0]?.from },
      'records without a readable envelope were put away',
    );
  }
  return opened;
};

/** The last skipped record of a partition, which counts for all of them. */
export const skippedUpTo = ({
  topic,
  partition,
  offset,
  position,
  part = 0,
}: SkippedRecord): Opened => ({
  topic,
  partition,
  offset: BigInt(offset),
  event: undefined,
  ...(position === undefined ? {} : { skipped: { position: BigInt(position), part } }),
});
