import type { IntegrationEvent } from '@cardea/contracts';
import type { Database } from '@cardea/read-models';
import type { Publisher } from '../bus.ts';
import type { DeadLetter, DeadLetters } from '../consuming/dead-letter.ts';
import { keyOf, partitionOf } from '../partition.ts';

const PUBLISH = {
  name: 'bus_publish',
  text: 'SELECT bus.publish($1, $2::smallint[], $3::text[], $4::text[], $5::json)',
};
/** Never moves the checkpoint back. */
const PUBLISH_THROUGH = {
  name: 'bus_publish_through',
  text: `INSERT INTO bus.relay_checkpoints AS c (log, position)
         SELECT $6, $7::bigint FROM bus.publish($1, $2::smallint[], $3::text[], $4::text[], $5::json)
         ON CONFLICT (log) DO UPDATE SET position = excluded.position, updated_at = now()
         WHERE c.position < excluded.position`,
};
const PUBLISH_EVENTS_MAX = 1000;

/** Without a type nobody skips it. */
type Outgoing = { readonly key: string; readonly type: string | null; readonly value: unknown };

/**
 * Publishes in one durable statement per thousand events, and wakes readers with one notice. The relay's
 * checkpoint stands in the same database, so it moves in the statement of the last events.
 */
export const postgresPublisher = (database: Database): Publisher & DeadLetters => {
  const send = async (topic: string, records: readonly Outgoing[]): Promise<void> => {
    for (const slice of slicesOf(records)) {
      await database.system.query(PUBLISH, publishing(topic, slice));
    }
  };
  return {
    publish: (topic, events) => send(topic, events.map(recordOf)),
    publishThrough: async (topic, events, { log, position }) => {
      const slices = slicesOf(events.map(recordOf));
      for (const slice of slices.slice(0, -1)) {
        await database.system.query(PUBLISH, publishing(topic, slice));
      }
      const last = publishing(topic, slices.at(-1) ?? []);
      await database.system.query(PUBLISH_THROUGH, [...last, log, String(position)]);
    },
    putAway: (topic, letters) =>
      send(
        topic,
        letters.map((letter: DeadLetter) => ({ key: letter.key, type: null, value: letter })),
      ),
    close: async () => {},
  };
};

const recordOf = (event: IntegrationEvent): Outgoing => ({
  key: keyOf(event),
  type: event.type,
  value: event,
});

const slicesOf = (records: readonly Outgoing[]): readonly (readonly Outgoing[])[] =>
  Array.from({ length: Math.ceil(records.length / PUBLISH_EVENTS_MAX) }, (_, index) =>
    records.slice(index * PUBLISH_EVENTS_MAX, (index + 1) * PUBLISH_EVENTS_MAX),
  );

const publishing = (topic: string, records: readonly Outgoing[]): readonly unknown[] => [
  topic,
  records.map(({ key }) => partitionOf(key)),
  records.map(({ key }) => key),
  records.map(({ type }) => type),
  JSON.stringify(records.map(({ value }) => value)),
];
