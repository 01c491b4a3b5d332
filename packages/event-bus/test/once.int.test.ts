import { armFailPoints, parseFailPoints } from '@cardea/runtime';
import { testDatabase, untilTrue } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consumerCore, keyOf, partitionOf, type RawRecord } from '../src/index.ts';
import {
  connect,
  countedEvents,
  countingConsumer,
  EFFECTS,
  effectsOf,
  postgresSide,
} from './rig.ts';

const SEEDS = Number(process.env['CARDEA_R4_SEEDS'] ?? 200);
const EVENTS = 60;
const STREAMS = 9;
const TIMES_MAX = 5;
const BATCH_MAX = 40;

const database = testDatabase();
let client: Client;
beforeAll(async () => {
  client = await connect(database.url);
  await client.query(EFFECTS);
});
afterAll(() => client?.end());

/** Numbers from 0 to below `limit`, the same ones for the same seed. */
const dice = (seed: number) => {
  let state = seed * 2_654_435_761 + 1;
  return (limit: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % limit;
  };
};
type Dice = ReturnType<typeof dice>;

/** A partition as relays leave it that were killed and went on from an older checkpoint. */
const withStepsBack = <T>(items: readonly T[], roll: Dice): readonly T[] => {
  const sent: T[] = [];
  const times = new Map<number, number>();
  for (let at = 0; at < items.length; at += 1) {
    sent.push(items[at] as T);
    times.set(at, (times.get(at) ?? 0) + 1);
    if (roll(6) !== 0) continue;
    const back = roll(Math.min(at + 1, 8));
    const again = Array.from({ length: back + 1 }, (_, index) => at - back + index);
    if (again.every((index) => (times.get(index) ?? 0) < TIMES_MAX)) at -= back + 1;
  }
  return sent;
};

/** Draws the partitions' records into one list; each partition keeps its order. */
const shuffledTogether = (
  partitions: readonly (readonly RawRecord[])[],
  roll: Dice,
): RawRecord[] => {
  const rest = partitions.map((records) => [...records]).filter((records) => records.length > 0);
  const drawn: RawRecord[] = [];
  while (rest.length > 0) {
    const index = roll(rest.length);
    const records = rest[index] as RawRecord[];
    drawn.push(records.shift() as RawRecord);
    if (records.length === 0) rest.splice(index, 1);
  }
  return drawn;
};

const recordsOf = (topic: string, roll: Dice): RawRecord[] => {
  const byPartition = Map.groupBy(countedEvents(EVENTS, STREAMS), (event) =>
    partitionOf(keyOf(event)),
  );
  const partitions = [...byPartition].map(([partition, events]) =>
    withStepsBack(events, roll).map((event, offset) => ({
      topic,
      partition,
      offset: String(offset),
      key: keyOf(event),
      value: event,
    })),
  );
  return shuffledTogether(partitions, roll);
};

test(`R4 records that come one to five times, shuffled between keys, take effect once and in order (${SEEDS} seeds)`, async () => {
  const side = postgresSide(database.url);
  const inOrder = Map.groupBy(countedEvents(EVENTS, STREAMS), ({ streamId }) => streamId);
  const wanted = [...inOrder]
    .map(([stream, events]) => [stream, events.map(({ data }) => data['number'])])
    .sort();
  let repeats = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const roll = dice(seed);
    const name = `seed-${seed}`;
    const core = consumerCore(countingConsumer(name, name), side.needs);
    const records = recordsOf(name, roll);
    repeats += records.length - EVENTS;
    for (let from = 0; from < records.length; ) {
      const batch = records.slice(from, from + 1 + roll(BATCH_MAX));
      const point = roll(3) === 0 ? `consumer.${roll(2) === 0 ? 'before' : 'after'}_commit` : '';
      armFailPoints(point === '' ? [] : (parseFailPoints(`${point}=throw@1`) ?? []));
      // A consumer that died reads its batch again, or goes on behind what was stored.
      await untilTrue(() => core.apply(batch).then(() => true));
      from += batch.length;
    }
    const seen = [...(await effectsOf(client, name))].sort();
    expect(seen, `seed ${seed}`).toEqual(wanted);
  }
  armFailPoints([]);
  expect(repeats).toBeGreaterThan(EVENTS * SEEDS * 0.3);
  await side.close();
});
