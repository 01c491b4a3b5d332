import type { IntegrationEvent } from '@cardea/contracts';
import type { Database } from '@cardea/read-models';
import type { Publisher } from '../bus.ts';
import type { DeadLetter, DeadLetters } from '../consuming/dead-letter.ts';
import { keyOf, partitionOf } from '../partition.ts';
import type { SentRecord, TopicTails } from './topic-tails.ts';

const PUBLISH = {
  name: 'bus_publish_own',
  text: 'SELECT * FROM bus.publish($1, $2::smallint[], $3::text[], $4::text[], $5::json, $6)',
};
/** Never moves the checkpoint back. */
const PUBLISH_THROUGH = {
  name: 'bus_publish_own_through',
  text: `WITH sent AS MATERIALIZED (
           SELECT * FROM bus.publish($1, $2::smallint[], $3::text[], $4::text[], $5::json, $6)
         ), moved AS (
           INSERT INTO bus.relay_checkpoints AS c (log, position)
           SELECT $7, $8::bigint FROM (SELECT count(*) FROM sent) AS all_sent
           ON CONFLICT (log) DO UPDATE SET position = excluded.position, updated_at = now()
           WHERE c.position < excluded.position
         )
         SELECT * FROM sent`,
};
const PUBLISH_EVENTS_MAX = 1000;

type Outgoing = Pick<SentRecord, 'key' | 'type' | 'position' | 'part'> & {
  readonly partition: number;
  readonly json: string;
};
type Advanced = { readonly at_partition: number; readonly next_at: string };

/**
 * Publishes in one durable statement per thousand events, and wakes readers with one notice. The relay's
 * checkpoint stands in the same database, so it moves in the statement of the last events.
 */
export const postgresPublisher = (
  database: Database,
  tails: Pick<TopicTails, 'publisher' | 'published' | 'uncertain'>,
): Publisher & DeadLetters => {
  const send = async (
    topic: string,
    records: readonly Outgoing[],
    through: readonly unknown[] = [],
  ): Promise<void> => {
    const statement = through.length > 0 ? PUBLISH_THROUGH : PUBLISH;
    const values = [...publishing(topic, records), tails.publisher, ...through];
    try {
      const { rows } = await database.system.query<Advanced>(statement, values);
      tails.published(topic, placed(topic, records, rows));
    } catch (error) {
      tails.uncertain(topic);
      throw error;
    }
  };
  return {
    publish: async (topic, events) => {
      for (const slice of slicesOf(events.map(recordOf))) await send(topic, slice);
    },
    publishThrough: async (topic, events, { log, position }) => {
      const slices = slicesOf(events.map(recordOf));
      for (const slice of slices.slice(0, -1)) await send(topic, slice);
      await send(topic, slices.at(-1) ?? [], [log, String(position)]);
    },
    putAway: async (topic, letters) => {
      for (const slice of slicesOf(letters.map(letterOf))) await send(topic, slice);
    },
    close: async () => {},
  };
};

const recordOf = (event: IntegrationEvent): Outgoing => ({
  key: keyOf(event),
  partition: partitionOf(keyOf(event)),
  type: event.type,
  position: event.released === true ? undefined : event.position,
  part: event.part ?? 0,
  json: JSON.stringify(event),
});

const letterOf = (letter: DeadLetter): Outgoing => ({
  key: letter.key,
  partition: partitionOf(letter.key),
  type: null,
  position: undefined,
  part: 0,
  json: JSON.stringify(letter),
});

const slicesOf = (records: readonly Outgoing[]): readonly (readonly Outgoing[])[] =>
  Array.from({ length: Math.ceil(records.length / PUBLISH_EVENTS_MAX) }, (_, index) =>
    records.slice(index * PUBLISH_EVENTS_MAX, (index + 1) * PUBLISH_EVENTS_MAX),
  );

const publishing = (topic: string, records: readonly Outgoing[]): readonly unknown[] => [
  topic,
  records.map(({ partition }) => partition),
  records.map(({ key }) => key),
  records.map(({ type }) => type),
  `[${records.map(({ json }) => json).join(',')}]`,
];

/** Each partition took its records in their order, and ends with the last of them. */
function placed(
  topic: string,
  records: readonly Outgoing[],
  advanced: readonly Advanced[],
): readonly SentRecord[] {
  const left = Map.groupBy(records, ({ partition }) => partition);
  const next = new Map(
    advanced.map(({ at_partition, next_at }) => [
      at_partition,
      BigInt(next_at) - BigInt(left.get(at_partition)?.length ?? 0),
    ]),
  );
  return records.flatMap(({ json, ...record }) => {
    const offset = next.get(record.partition);
    if (offset === undefined) return [];
    next.set(record.partition, offset + 1n);
    let read: unknown;
    const value = (): unknown => {
      read ??= JSON.parse(json);
      return read;
    };
    return { ...record, topic, offset, value };
  });
}
