/** Turns an adapter's records into events. A record without a readable envelope becomes a dead letter. */
import { applyOrSetAside } from '@cardea/log-follower';
import { metrics } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import { keyOf } from '../partition.ts';
import { type DeadLetter, deadLetterTopicOf } from './dead-letter.ts';
import type { Opened } from './lane-moves.ts';
import { readable } from './readable.ts';
import type { ConsumerDependencies, RawRecord, SkippedRecord } from './records.ts';

type Opening = { readonly consumer: Consumer; readonly needs: ConsumerDependencies };

/** Records without a readable envelope become dead letters; their offsets still count. */
export const openAll = async (
  { consumer, needs }: Opening,
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
  if (letters.length > 0) await putAway({ consumer, needs }, letters);
  return opened;
};

/** Stores a record whose event can neither be applied nor parked as a dead letter. */
export const putAwayOpened = (of: Opening, record: Opened, code: string): Promise<void> => {
  const { topic, partition, offset, event } = record;
  const from = { topic, partition, offset: String(offset) };
  const key = event === undefined ? '' : keyOf(event);
  return putAway(of, [{ key, from, faults: [`cannot be parked: ${code}`], value: event }]);
};

/** A dead letter that cannot be stored with its value is stored without it. */
const putAway = async ({ consumer, needs }: Opening, letters: readonly DeadLetter[]) => {
  const topic = deadLetterTopicOf(consumer.name);
  await applyOrSetAside(letters, {
    apply: (some) => needs.deadLetters.putAway(topic, some),
    setAside: (letter) => needs.deadLetters.putAway(topic, [{ ...letter, value: null }]),
  });
  needs.counted?.('dead_letter', consumer.name, letters.length);
  metrics.deadLetters.inc({ consumer: consumer.name }, letters.length);
  needs.log.error(
    { consumer: consumer.name, count: letters.length, from: letters[0]?.from },
    'records that cannot be read were put away',
  );
};

/** The last skipped record of a partition, which represents all of them. */
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
