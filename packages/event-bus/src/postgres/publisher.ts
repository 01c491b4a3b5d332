import type { IntegrationEvent } from '@cardea/contracts';
import type { Database, Transaction } from '@cardea/read-models';
import type { Publisher } from '../bus.ts';
import type { DeadLetter, DeadLetters } from '../consuming/dead-letter.ts';
import { keyOf, partitionOf } from '../partition.ts';

const PUBLISH = {
  name: 'bus_publish',
  text: 'SELECT bus.publish($1, $2::smallint[], $3::text[], $4::json)',
};
const PUBLISH_EVENTS_MAX = 1000;

type Outgoing = { readonly key: string; readonly value: unknown };

/** Publishes in one durable transaction per thousand events, and wakes readers with one notice. */
export const postgresPublisher = (database: Database): Publisher & DeadLetters => {
  const send = async (topic: string, records: readonly Outgoing[]): Promise<void> => {
    for (let from = 0; from < records.length; from += PUBLISH_EVENTS_MAX) {
      const slice = records.slice(from, from + PUBLISH_EVENTS_MAX);
      await database.asSystem((transaction) => publishIn(transaction, topic, slice));
    }
  };
  return {
    publish: (topic, events) =>
      send(
        topic,
        events.map((event: IntegrationEvent) => ({ key: keyOf(event), value: event })),
      ),
    putAway: (topic, letters) =>
      send(
        topic,
        letters.map((letter: DeadLetter) => ({ key: letter.key, value: letter })),
      ),
    close: async () => {},
  };
};

const publishIn = async (
  transaction: Transaction,
  topic: string,
  records: readonly Outgoing[],
): Promise<void> => {
  await transaction.query(PUBLISH, [
    topic,
    records.map(({ key }) => partitionOf(key)),
    records.map(({ key }) => key),
    JSON.stringify(records.map(({ value }) => value)),
  ]);
};
