import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { type ProcessFixture, untilTrue } from '@cardea/testing';
import type { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BusRecord,
  type Consumer,
  consumerCore,
  deadLetterTopicOf,
  hasPassed,
} from '../src/index.ts';
import {
  type BusSide,
  countedEvent,
  countedEvents,
  countingConsumer,
  countOf,
  effectsOf,
  isLevel,
  preparedBy,
  recordEffects,
  upTo,
} from './bus-fixture.ts';
import { describePreparing } from './preparing-suite.ts';
import { describeSkipping } from './skipping-suite.ts';

/**
 * The functions that the suite needs from an adapter. Each adapter runs the same tests under the same names.
 */
export type BusFixture = {
  /** Creates topics, if the adapter does not do so itself. */
  createTopics?(topics: readonly string[]): Promise<void>;
  /** Opens the bus as another process would. Only topics and tables are shared. */
  open(): BusSide;
  /** All records of a topic, by partition and offset. For a record without an envelope, its value. */
  recordsOf(topic: string): Promise<readonly (Omit<BusRecord, 'event'> & { event: unknown })[]>;
  /** Puts a record on a topic that none of our publishers would send. */
  putForeign(topic: string, key: string, value: unknown): Promise<void>;
  /** A client that reads effects. */
  client(): Client;
  readonly url: string;
  readonly processes: ProcessFixture;
  /** Passed to a separate process. If empty, the topics are tables. */
  readonly brokers: string;
};

export function describeBus(adapter: string, fixture: () => BusFixture): void {
  describe(`bus, ${adapter}`, () => {
    let topic: string;
    let name: string;
    let sides: BusSide[];
    const open = (): BusSide => {
      const side = fixture().open();
      sides.push(side);
      return side;
    };
    const effects = () => effectsOf(fixture().client(), name);
    const allOf = (count: number, deadlineMs = 60_000) =>
      untilTrue(async () => countOf(await effects()) >= count, {
        what: `${count} effects`,
        deadlineMs,
      });
    beforeEach(async () => {
      sides = [];
      name = `c${randomUUID().slice(0, 8)}`;
      topic = `cardea.${name}.events.v1`;
      await fixture().createTopics?.([topic, deadLetterTopicOf(name)]);
    });
    afterEach(async () => {
      armFailPoints([]);
      await Promise.all(sides.map((side) => side.close()));
    });

    it('brings all that was published, each stream in its order', async () => {
      const { publisher, subscriber } = open();
      await publisher.publish(topic, countedEvents(1500, 40));
      await subscriber.run(countingConsumer(name, topic));
      await publisher.publish(
        topic,
        upTo(500).map((number) => countedEvent('late-1', number, 2000 + number)),
      );
      await allOf(2000);
      const seen = await effects();
      expect(seen.get('thing-0')).toEqual(upTo(38));
      expect(seen.get('thing-39')).toEqual(upTo(37));
      expect(seen.get('late-1')).toEqual(upTo(500));
      expect(countOf(seen)).toBe(2000);
    });

    it('keeps a stream in one partition, and offsets without a hole', async () => {
      const { publisher } = open();
      await Promise.all([
        publisher.publish(topic, countedEvents(300, 30)),
        publisher.publish(topic, countedEvents(300, 30)),
      ]);
      const records = await fixture().recordsOf(topic);
      expect(records.length).toBe(600);
      const partitions = new Map<string, Set<number>>();
      const last = new Map<number, number>();
      for (const { partition, offset, event } of records) {
        const { streamId } = event as { streamId: string };
        partitions.set(streamId, (partitions.get(streamId) ?? new Set()).add(partition));
        expect(Number(offset)).toBe((last.get(partition) ?? -1) + 1);
        last.set(partition, Number(offset));
      }
      expect([...partitions.values()].every(({ size }) => size === 1)).toBe(true);
    });

    it('applies an event once that arrives again, and none that steps back', async () => {
      const { publisher, subscriber } = open();
      const events = countedEvents(60, 6);
      await publisher.publish(topic, events);
      await publisher.publish(topic, events.slice(20, 40));
      await publisher.publish(topic, events);
      await publisher.publish(topic, [countedEvent('thing-0', 11, 61)]);
      await subscriber.run(countingConsumer(name, topic));
      await untilTrue(() => isLevel(subscriber, name, [topic]), {
        what: 'nothing is left to read',
      });
      await subscriber.close();
      const seen = await effects();
      expect(seen.get('thing-0')).toEqual(upTo(11));
      expect(seen.get('thing-5')).toEqual(upTo(10));
      expect(countOf(seen)).toBe(61);
    });

    it('tells after each commit how far the partitions of the batch have come', async () => {
      const { publisher, subscriber } = open();
      const told = new Map<string, bigint>();
      const onMoved: Consumer['onMoved'] = (offsets) => {
        for (const [partition, offset] of offsets) told.set(partition, offset);
      };
      await subscriber.run({ ...countingConsumer(name, topic), onMoved });
      await publisher.publish(topic, countedEvents(40, 8));
      await untilTrue(() => isLevel(subscriber, name, [topic]));
      await untilTrue(async () => {
        const applied = await subscriber.applied(name, [topic]);
        return isDeepStrictEqual(told, new Map(applied)) && told.size > 1;
      });
      const ends = await subscriber.ends([topic]);
      expect(hasPassed(ends, told)).toBe(true);
      await publisher.publish(topic, [countedEvent('thing-0', 6, 41)]);
      await allOf(41);
      expect(hasPassed(ends, told)).toBe(true);
    });

    it('applies both halves of an event that was published as two', async () => {
      const { publisher, subscriber } = open();
      await subscriber.run(countingConsumer(name, topic));
      const first = countedEvent('thing-0', 1, 7);
      const second = { ...countedEvent('thing-0', 2, 7), part: 1 };
      await publisher.publish(topic, [first]);
      await allOf(1);
      await publisher.publish(topic, [first, second]);
      await publisher.publish(topic, [second, countedEvent('thing-0', 3, 8)]);
      await allOf(3);
      expect((await effects()).get('thing-0')).toEqual([1, 2, 3]);
    });

    it('takes back the effects of a consumer that failed before its commit, and applies them once', async () => {
      armFailPoints(parseFailPoints('consumer.before_commit=throw@1') ?? []);
      const { publisher, subscriber } = open();
      await publisher.publish(topic, countedEvents(50, 5));
      await subscriber.run(countingConsumer(name, topic));
      await allOf(50);
      expect((await effects()).get('thing-4')).toEqual(upTo(10));
    });

    it('shares the partitions between two members, and leaves them to the one that stays', async () => {
      const [one, two] = [open(), open()];
      // A set of ids, because a batch whose transaction was rolled back is delivered again.
      const bySide = [new Set<string>(), new Set<string>()] as const;
      const forget = () => {
        for (const ids of bySide) ids.clear();
      };
      const consumer = (ids: Set<string>) =>
        countingConsumer(name, topic, async (events, transaction) => {
          for (const { id } of events) ids.add(id);
          await recordEffects(name, events, transaction);
        });
      await one.subscriber.run(consumer(bySide[0]));
      await two.subscriber.run(consumer(bySide[1]));
      let position = 0;
      const send = (streams: number) =>
        one.publisher.publish(
          topic,
          upTo(streams).map((stream) => countedEvent(`thing-${stream}`, ++position, position)),
        );
      await untilTrue(
        async () => {
          forget();
          await send(48);
          await allOf(position);
          return bySide.every(({ size }) => size > 0);
        },
        { what: 'both members get records', deadlineMs: 60_000 },
      );
      await one.kill();
      await one.subscriber.close();
      forget();
      await two.publisher.publish(
        topic,
        upTo(48).map((stream) => countedEvent(`thing-${stream}`, ++position, position)),
      );
      await allOf(position);
      expect(bySide.map(({ size }) => size)).toEqual([0, 48]);
      for (const numbers of (await effects()).values()) {
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(new Set(numbers).size).toBe(numbers.length);
      }
    });

    it('R27 parks the stream of a poison event, lets others flow, and releases it in order', async () => {
      const side = open();
      let healed = false;
      const consumer = countingConsumer(name, topic, async (events, transaction) => {
        await recordEffects(name, events, transaction);
        const isPoison = ({ streamId, data }: (typeof events)[number]) =>
          !healed && streamId === 'thing-3' && data['number'] === 4;
        if (events.some(isPoison)) throw new TypeError('cannot read this');
      });
      await side.publisher.publish(topic, countedEvents(100, 10));
      await side.subscriber.run(consumer);
      await allOf(93);
      const parked = await effects();
      expect(parked.get('thing-3')).toEqual([1, 2, 3]);
      expect(parked.get('thing-4')).toEqual(upTo(10));
      await untilTrue(() => side.degraded().includes('parked streams: 1'));

      await side.publisher.publish(topic, [
        countedEvent('thing-3', 11, 101),
        countedEvent('thing-4', 11, 102),
      ]);
      await allOf(94);
      // The later events of the parked stream are in another partition. By now they have to be parked too.
      await untilTrue(() => isLevel(side.subscriber, name, [topic]), {
        what: 'nothing is left to read',
      });
      expect((await effects()).get('thing-3')).toEqual([1, 2, 3]);

      healed = true;
      const core = consumerCore(consumer, side.needs);
      const [stream = ''] = await core.parked();
      await core.release(stream);
      expect((await effects()).get('thing-3')).toEqual(upTo(11));
      await side.publisher.publish(topic, [countedEvent('thing-3', 12, 103)]);
      await allOf(103);
      expect((await effects()).get('thing-3')).toEqual(upTo(12));
      await untilTrue(() => side.degraded().length === 0);
    });

    describePreparing(() => ({ open, effects, allOf, topic, name }));

    describeSkipping(() => ({
      ...{ open, effects, allOf, topic, name },
      ...{ url: fixture().url, brokers: fixture().brokers, processes: fixture().processes },
      createTopics: async (topics) => fixture().createTopics?.(topics),
      effectsOfConsumer: (consumer) => effectsOf(fixture().client(), consumer),
      prepared: (consumer) => preparedBy(fixture().client(), consumer),
    }));

    it('puts a record without an envelope away and goes on', async () => {
      const { publisher, subscriber } = open();
      await fixture().putForeign(topic, 'acme:thing-1', { hello: 'world' });
      await publisher.publish(topic, countedEvents(10, 2));
      await fixture().putForeign(topic, 'acme:thing-1', null);
      await subscriber.run(countingConsumer(name, topic));
      await publisher.publish(topic, [countedEvent('thing-1', 6, 11)]);
      await allOf(11);
      const letters = await untilTrue(async () => {
        const records = await fixture().recordsOf(deadLetterTopicOf(name));
        return records.length === 2 ? records : undefined;
      });
      expect(letters.map(({ event }) => (event as { value: unknown }).value)).toEqual([
        { hello: 'world' },
        null,
      ]);
    });

    it('knows up to which position all that was sent took effect', async () => {
      const { publisher, subscriber } = open();
      expect(await subscriber.appliedThrough(name, topic)).toBe(0n);
      await publisher.publish(topic, countedEvents(30, 30));
      expect(await subscriber.appliedThrough(name, topic)).toBe(0n);
      await subscriber.run(countingConsumer(name, topic));
      await allOf(30);
      await untilTrue(async () => (await subscriber.appliedThrough(name, topic)) === 30n);
      await untilTrue(() => isLevel(subscriber, name, [topic, 'never.written']));
      await subscriber.close();
      await publisher.publish(topic, [countedEvent('thing-1', 2, 31)]);
      expect(await isLevel(subscriber, name, [topic])).toBe(false);
      expect(await subscriber.appliedThrough(name, topic)).toBeLessThan(31n);
    });
  });
}
