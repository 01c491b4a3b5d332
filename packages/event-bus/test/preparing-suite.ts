/** The tests of consumers with `prepare`, which every adapter runs as part of the bus suite. */
import { untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { type Consumer, consumerCore } from '../src/index.ts';
import {
  type BusSide,
  countedEvent,
  countedEvents,
  countingConsumer,
  recordEffects,
  upTo,
} from './bus-fixture.ts';

type Rig = {
  readonly open: () => BusSide;
  readonly effects: () => Promise<ReadonlyMap<string, readonly number[]>>;
  readonly allOf: (count: number) => Promise<unknown>;
  readonly topic: string;
  readonly name: string;
};

export function describePreparing(fixture: () => Rig): void {
  it('prepares what is due outside of the transaction, before it takes effect', async () => {
    const { open, allOf, topic, name } = fixture();
    const side = open();
    const { database } = side.needs;
    const prepared = new Set<string>();
    const unprepared: string[] = [];
    const consumer: Consumer = {
      ...countingConsumer(name, topic, async (events, transaction) => {
        unprepared.push(...events.flatMap(({ id }) => (prepared.has(id) ? [] : [id])));
        await recordEffects(name, events, transaction);
      }),
      prepare: async (events) => {
        // The number of connections that the pool has for loops. No transaction holds one of them.
        await Promise.all(upTo(4).map(() => database.system.query('SELECT pg_sleep(0.01)')));
        for (const { id } of events) prepared.add(id);
      },
    };
    await side.publisher.publish(topic, countedEvents(100, 10));
    await side.subscriber.run(consumer);
    await allOf(100);
    expect(unprepared).toEqual([]);
    expect(prepared.size).toBe(100);
    // An event that was applied is not prepared again.
    prepared.clear();
    await side.publisher.publish(topic, [
      ...countedEvents(100, 10).slice(0, 40),
      countedEvent('late', 1, 101),
    ]);
    await allOf(101);
    expect(prepared.size).toBe(1);
  });

  it('R27 parks the stream of an event that cannot be prepared, and prepares it at its release', async () => {
    const { open, effects, allOf, topic, name } = fixture();
    const side = open();
    let healed = false;
    const prepared: string[] = [];
    const consumer: Consumer = {
      ...countingConsumer(name, topic),
      prepare: async (events) => {
        const isPoison = ({ streamId, data }: (typeof events)[number]) =>
          !healed && streamId === 'thing-3' && data['number'] === 4;
        if (events.some(isPoison)) throw new TypeError('cannot decide on this');
        prepared.push(...events.map(({ streamId, data }) => `${streamId} ${data['number']}`));
      },
    };
    await side.publisher.publish(topic, countedEvents(100, 10));
    await side.subscriber.run(consumer);
    await allOf(93);
    expect((await effects()).get('thing-3')).toEqual([1, 2, 3]);
    expect(prepared).not.toContain('thing-3 5');
    const core = consumerCore(consumer, side.needs);
    // The other events of its batch may take effect before the stream is parked.
    const [stream = ''] = await untilTrue(async () => {
      const parked = await core.parked();
      return parked.length > 0 ? parked : undefined;
    });
    healed = true;
    prepared.length = 0;
    await core.release(stream);
    // A batch that was prepared but not applied is prepared again.
    expect([...new Set(prepared)]).toEqual(
      upTo(10)
        .slice(3)
        .map((number) => `thing-3 ${number}`),
    );
    expect((await effects()).get('thing-3')).toEqual(upTo(10));
  });

  it('refuses a second connection inside the transaction', async () => {
    const { open, allOf, topic, name } = fixture();
    const side = open();
    const { database } = side.needs;
    const failures: string[] = [];
    const consumer = countingConsumer(name, topic, async (events, transaction) => {
      const second = database.system.query('SELECT 1');
      await second.catch((error: Error) => failures.push(error.name));
      await recordEffects(name, events, transaction);
    });
    await side.publisher.publish(topic, countedEvents(1, 1));
    await side.subscriber.run(consumer);
    await allOf(1);
    expect(failures).toEqual(['NestedConnection']);
  });
}
