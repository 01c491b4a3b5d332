import { type BusSide, countingConsumer } from './bus-fixture.ts';

/** Counts some events inside its transaction, records others in `prepare`, and ignores the rest. */
export const lateConsumerOf = (name: string, topic: string, { database }: BusSide['needs']) => ({
  ...countingConsumer(name, topic),
  types: ['thing.counted', 'thing.noted'],
  preparedTypes: ['thing.noted'],
  appliedTypes: ['thing.counted'],
  prepare: async (events: readonly { readonly id: string; readonly type: string }[]) => {
    const noted = events.filter(({ type }) => type === 'thing.noted').map(({ id }) => id);
    await database.system.query(
      `INSERT INTO effects.prepared AS p (consumer, event_id, times)
       SELECT $1, id, 1 FROM unnest($2::uuid[]) AS id
       ON CONFLICT (consumer, event_id) DO UPDATE SET times = p.times + 1`,
      [name, noted],
    );
  },
});
