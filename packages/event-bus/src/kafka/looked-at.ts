/** Converts a partition's messages for a consumer. Messages of other types are skipped by their header alone. */
import type { KafkaMessage } from 'kafkajs';
import type { Consumer } from '../bus.ts';
import type { Lane } from '../consuming/consumer-positions.ts';
import type { Looked, RawRecord } from '../consuming/records.ts';
import { eventIn, positionIn, typeIn } from './cloud-event.ts';

export const lookedAt = (
  { types }: Pick<Consumer, 'types'>,
  lane: Lane,
  messages: readonly KafkaMessage[],
): Looked => {
  const isSkipped = (message: KafkaMessage): boolean => {
    const type = types === undefined ? undefined : typeIn(message);
    return type !== undefined && types?.includes(type) === false;
  };
  const last = messages.at(-1);
  return {
    records: messages
      .filter((message) => !isSkipped(message))
      .map(
        (message): RawRecord => ({
          ...lane,
          offset: message.offset,
          key: message.key?.toString() ?? '',
          value: eventIn(message),
        }),
      ),
    skipped:
      last === undefined || !isSkipped(last)
        ? []
        : [{ ...lane, offset: last.offset, ...positionIn(last) }],
  };
};
