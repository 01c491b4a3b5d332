/** The tests of events that a consumer ignores, which every adapter runs as part of the bus suite. */
import { randomUUID } from 'node:crypto';
import type { IntegrationEvent } from '@cardea/contracts';
import { type ProcessFixture, programOf, testForm, untilTrue } from '@cardea/testing';
import { expect, it } from 'vitest';
import { deadLetterTopicOf } from '../src/index.ts';
import {
  type BusSide,
  countedEvent,
  countingConsumer,
  countOf,
  isLevel,
  ofType,
  recordEffects,
  upTo,
} from './bus-fixture.ts';
import { lateConsumerOf } from './late-consumer.ts';

type Fixture = {
  readonly open: () => BusSide;
  readonly effects: () => Promise<ReadonlyMap<string, readonly number[]>>;
  readonly allOf: (count: number) => Promise<unknown>;
  readonly topic: string;
  readonly name: string;
  readonly url: string;
  /** For a separate process. If empty, the topics are tables. */
  readonly brokers: string;
  readonly processes: ProcessFixture;
  readonly createTopics: (topics: readonly string[]) => Promise<void>;
  /** How often each event was prepared, by event id. */
  readonly prepared: (consumer: string) => Promise<ReadonlyMap<string, number>>;
  readonly effectsOfConsumer: (name: string) => Promise<ReadonlyMap<string, readonly number[]>>;
};

const topicOfConsumer = (name: string): string => `cardea.${name}.events.v1`;

const SEEDS = testForm.long ? 100 : 3;
/** Most of each run is waiting until the killed member is given up, so several run at once. */
const AT_ONCE = 5;
/** Longer than a consumer waits for an effect before it stores its position alone. */
const SILENCE_MS = 1_500;
const SILENT_EVERY = 8;
const SEED_MS_MAX = 60_000;
const STORED_MS_MAX = 30_000;

const ignored = (streamId: string, number: number, position: number): IntegrationEvent =>
  ofType('thing.ignored', countedEvent(streamId, number, position));

export function describeSkipping(fixture: () => Fixture): void {
  it('skips what it does not handle, and stores how far it has looked', async () => {
    const { open, effects, allOf, topic, name } = fixture();
    const { publisher, subscriber } = open();
    const seen = new Set<string>();
    await publisher.publish(
      topic,
      upTo(200).map((number) => {
        const stream = `thing-${number % 7}`;
        return number % 10 === 0
          ? countedEvent(stream, number, number)
          : ignored(stream, number, number);
      }),
    );
    await subscriber.run({
      ...countingConsumer(name, topic, async (events, transaction) => {
        for (const { type } of events) seen.add(type);
        await recordEffects(name, events, transaction);
      }),
      types: ['thing.counted'],
    });
    await allOf(20);
    await untilTrue(() => isLevel(subscriber, name, [topic]), { deadlineMs: STORED_MS_MAX });
    expect([...seen]).toEqual(['thing.counted']);
    expect(countOf(await effects())).toBe(20);
    expect(await subscriber.appliedThrough(name, topic)).toBe(200n);
    expect(await subscriber.lag(name, [topic])).toEqual(new Map([[topic, 0]]));
  });

  it('stores its position though it ignores everything, and goes on from there', async () => {
    const { open, effects, topic, name } = fixture();
    const { publisher, subscriber } = open();
    const consumer = { ...countingConsumer(name, topic), types: ['thing.counted'] };
    const running = await subscriber.run(consumer);
    await publisher.publish(
      topic,
      upTo(30).map((number) => ignored(`thing-${number}`, 1, number)),
    );
    await untilTrue(() => isLevel(subscriber, name, [topic]), { deadlineMs: STORED_MS_MAX });
    expect(await subscriber.lag(name, [topic])).toEqual(new Map([[topic, 0]]));
    await running.stop();
    // The stop stores positions too, or the next start does.
    await publisher.publish(topic, [ignored('thing-1', 2, 31), countedEvent('thing-1', 3, 32)]);
    await subscriber.run(consumer);
    await untilTrue(async () => countOf(await effects()) === 1);
    await untilTrue(() => isLevel(subscriber, name, [topic]), { deadlineMs: STORED_MS_MAX });
    expect((await effects()).get('thing-1')).toEqual([3]);
  });

  it('opens no transaction for an event that was done with when it was prepared', async () => {
    const { open, allOf, topic, name } = fixture();
    const { publisher, subscriber } = open();
    const prepared: string[] = [];
    const handled: string[] = [];
    await subscriber.run({
      ...countingConsumer(name, topic, async (events, transaction) => {
        handled.push(...events.map(({ type }) => type));
        await recordEffects(name, events, transaction);
      }),
      types: ['thing.counted', 'thing.noted'],
      preparedTypes: ['thing.noted'],
      appliedTypes: ['thing.counted'],
      prepare: async (events) => {
        prepared.push(...events.flatMap(({ type, id }) => (type === 'thing.noted' ? [id] : [])));
      },
    });
    const noted = upTo(5).map((number) =>
      ofType('thing.noted', countedEvent('thing-1', number, number)),
    );
    await publisher.publish(topic, noted);
    await untilTrue(() => prepared.length === 5);
    await untilTrue(() => isLevel(subscriber, name, [topic]), { deadlineMs: STORED_MS_MAX });
    expect(handled).toEqual([]);
    await publisher.publish(topic, [countedEvent('thing-1', 6, 6)]);
    await allOf(1);
    expect(prepared).toEqual(noted.map(({ id }) => id));
  });

  /** Kills a consumer before it stores a late position. Returns how many events were prepared twice. */
  const killedLate = async (seed: number, name: string): Promise<number> => {
    const { open, url, brokers, processes, prepared, effectsOfConsumer } = fixture();
    const script = programOf(new URL('./late-process.ts', import.meta.url));
    const { publisher, subscriber } = open();
    const topic = topicOfConsumer(name);
    const victim = await processes.start({
      name: `late ${seed}`,
      script,
      args: [url, topic, name, `position.before_store=kill@${1 + (seed % 2)}`, brokers],
      ready: /ready/,
    });
    let ended = false;
    void victim.ended.then(() => {
      ended = true;
    });
    const sent: IntegrationEvent[] = [];
    for (let position = 1; !ended; position += 1) {
      const stream = `thing-${(position * seed) % 5}`;
      const event = countedEvent(stream, position, position);
      const type = ['thing.noted', 'thing.ignored', 'thing.counted'][(position + seed) % 3] ?? '';
      // A position that is stored directly before a pause is stored again after a kill during the pause.
      const isSilent = position % SILENT_EVERY === 0;
      sent.push(ofType(isSilent ? 'thing.noted' : type, event));
      await publisher.publish(topic, sent.slice(-1));
      // The pause is needed because a batch with an effect would store the position of the next record too.
      const pauseMs = isSilent ? SILENCE_MS : (1 + ((position * seed) % 5)) * 20;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    expect(await victim.ended).toBe('SIGKILL');
    const running = await subscriber.run(lateConsumerOf(name, topic, open().needs));
    await untilTrue(() => isLevel(subscriber, name, [topic]), { deadlineMs: SEED_MS_MAX });
    await running.stop();
    const of = (type: string) => sent.filter((event) => event.type === type);
    const seen = [...(await effectsOfConsumer(name)).values()].flat().sort((a, b) => a - b);
    expect(seen).toEqual(of('thing.counted').map(({ data }) => data['number']));
    const times = await prepared(name);
    expect(of('thing.noted').filter(({ id }) => !times.has(id))).toEqual([]);
    return [...times.values()].filter((count) => count > 1).length;
  };

  it('a kill before a late position is stored repeats, and never loses', {
    timeout: (SEEDS + 1) * SEED_MS_MAX,
  }, async () => {
    let repeats = 0;
    for (let first = 0; first < SEEDS; first += AT_ONCE) {
      const seeds = upTo(Math.min(AT_ONCE, SEEDS - first)).map((n) => first + n + testForm.seed);
      const named = seeds.map((seed) => ({ seed, name: `l${randomUUID().slice(0, 8)}` }));
      const topics = named.flatMap(({ name }) => [topicOfConsumer(name), deadLetterTopicOf(name)]);
      await fixture().createTopics(topics);
      const counts = await Promise.all(named.map(({ seed, name }) => killedLate(seed, name)));
      repeats += counts.reduce((sum, count) => sum + count, 0);
    }
    expect(repeats).toBeGreaterThan(0);
  });
}
