import type { IntegrationEvent } from '@cardea/contracts';
import { type ProcessSession, sparedNotices } from '@cardea/postgres';
import type { Database } from '@cardea/read-models';
import type { Publisher } from '../bus.ts';
import type { DeadLetter, DeadLetters } from '../consuming/dead-letter.ts';
import { keyOf, partitionOf } from '../partition.ts';
import { endsOf } from './applied-through.ts';
import { BUS_NOTICES } from './migrations.ts';
import type { SentRecord, TopicTails } from './topic-tails.ts';

/**
 * One statement, which the server plans once per connection; a function around it would cost a third more. Each
 * partition inserts its records together, in a common order, so two publishers never deadlock. Offsets are computed
 * backwards from the new end of the partition.
 */
const SEND = `
  WITH advanced AS (
    INSERT INTO bus.partitions AS p (topic, partition, next_offset)
    SELECT $1, t.partition, t.count FROM unnest($2::smallint[], $3::bigint[]) AS t (partition, count)
    ON CONFLICT (topic, partition) DO UPDATE SET next_offset = p.next_offset + excluded.next_offset
    RETURNING p.partition, p.next_offset
  ), stored AS (
    INSERT INTO bus.records (topic, partition, "offset", key, type, value)
    SELECT $1, a.partition, a.next_offset - r.before_end, r.key, r.type, r.value
    FROM ROWS FROM (unnest($4::smallint[]), unnest($5::bigint[]), unnest($6::text[]),
           unnest($7::text[]), json_array_elements($8::json))
         AS r (partition, before_end, key, type, value)
    JOIN advanced AS a ON a.partition = r.partition
  )`;
const SENT = `
  SELECT a.partition AS at_partition, a.next_offset AS next_at,
    CASE WHEN $9::text IS NOT NULL THEN pg_notify('${BUS_NOTICES}', $9) END
  FROM advanced AS a`;
const PUBLISH = { name: 'bus_send', text: `${SEND}${SENT}` };
/** This statement never moves the checkpoint back. */
const PUBLISH_THROUGH = {
  name: 'bus_send_through',
  text: `${SEND}, moved AS (
    INSERT INTO bus.relay_checkpoints AS c (log, position) VALUES ($10, $11::bigint)
    ON CONFLICT (log) DO UPDATE SET position = excluded.position, updated_at = now()
    WHERE c.position < excluded.position
  )${SENT}`,
};
/** A notice without types means all types. */
const TELL = {
  name: 'bus_tell',
  text: `SELECT pg_notify('${BUS_NOTICES}', topic) FROM unnest($1::text[]) AS topic`,
};
const PUBLISH_EVENTS_MAX = 1000;
/** The limit is below PostgreSQL's maximum of 8,000. */
const NOTICE_BYTES_MAX = 2000;

type Outgoing = Pick<SentRecord, 'key' | 'type' | 'position' | 'part'> & {
  readonly partition: number;
  readonly json: string;
};
type Advanced = { readonly at_partition: number; readonly next_at: string };

type Dependencies = {
  readonly database: Pick<Database, 'system'>;
  readonly tails: Pick<TopicTails, 'publisher' | 'published' | 'uncertain'>;
  readonly locks: Pick<ProcessSession, 'others'>;
};

/**
 * Publishes in one durable statement per thousand events, and wakes readers in other processes with one notice. If the
 * relay's checkpoint is in the same database, it moves in the statement of the last events.
 */
export const postgresPublisher = ({
  database,
  tails,
  locks,
}: Dependencies): Publisher & DeadLetters => {
  const notices = sparedNotices(locks.others, async (topics) => {
    await database.system.query(TELL, [topics]);
  });
  const send = async (
    topic: string,
    records: readonly Outgoing[],
    through: readonly unknown[] = [],
  ): Promise<void> => {
    const statement = through.length > 0 ? PUBLISH_THROUGH : PUBLISH;
    const told = notices.areDue();
    const notice = told ? noticeOf(topic, records, tails.publisher) : null;
    const values = [...publishing(topic, records), notice, ...through];
    try {
      const { rows } = await database.system.query<Advanced>(statement, values);
      tails.published(topic, placed(topic, records, rows));
    } catch (error) {
      tails.uncertain(topic);
      throw error;
    } finally {
      notices.committed(topic, told);
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
    ends: (topic) => endsOf(database, [topic]),
    close: async () => notices.end(),
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

function publishing(topic: string, records: readonly Outgoing[]): readonly unknown[] {
  const byPartition = Map.groupBy(records, ({ partition }) => partition);
  const partitions = [...byPartition.keys()].sort((a, b) => a - b);
  const inOrder = partitions.flatMap((partition) => byPartition.get(partition) ?? []);
  const counts = partitions.map((partition) => byPartition.get(partition)?.length ?? 0);
  return [
    topic,
    partitions,
    counts,
    inOrder.map(({ partition }) => partition),
    counts.flatMap((count) => Array.from({ length: count }, (_, nth) => count - nth)),
    inOrder.map(({ key }) => key),
    inOrder.map(({ type }) => type),
    `[${inOrder.map(({ json }) => json).join(',')}]`,
  ];
}

/** A notice of only the topic means that records of all types may have arrived. */
function noticeOf(topic: string, records: readonly Outgoing[], publisher: string): string {
  const types = new Set(records.map(({ type }) => type));
  const notice = [topic, ...types, publisher].join(' ');
  const isNamed = !types.has(null) && Buffer.byteLength(notice) <= NOTICE_BYTES_MAX;
  return isNamed ? notice : topic;
}

/** Each partition inserted its records in their order, and ends with the last of them. */
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
    return { ...record, topic, offset, value: parsedOnce(json) };
  });
}

/** Parses the text once. Afterwards the text is released, and nothing else of its batch is kept with it. */
function parsedOnce(json: string): () => unknown {
  let text: string | undefined = json;
  let value: unknown;
  return () => {
    if (text !== undefined) value = JSON.parse(text);
    text = undefined;
    return value;
  };
}
