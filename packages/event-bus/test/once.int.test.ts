import { DatabaseUnavailable } from '@cardea/read-models';
import { testDatabase } from '@cardea/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consumerCore, keyOf, partitionOf, type RawRecord } from '../src/index.ts';
import {
  type BusSide,
  connect,
  countedEvents,
  countingConsumer,
  EFFECTS,
  effectsOf,
  postgresSide,
  recordEffects,
} from './bus-fixture.ts';

const SEEDS = Number(process.env['CARDEA_R4_SEEDS'] ?? 200);
const EVENTS = 60;
const STREAMS = 9;
const TIMES_MAX = 5;
const BATCH_MAX = 40;
/** Seeds that run at the same time, with one connection each. */
const PLAYERS = 3;
const SEED_MS_MAX = 1000;

const database = testDatabase();
let client: Client;
beforeAll(async () => {
  client = await connect(database.url);
  await client.query(EFFECTS);
});
afterAll(() => client?.end());

/** Random numbers from 0 to below `limit`, reproducible by the seed. */
const dice = (seed: number) => {
  let state = seed * 2_654_435_761 + 1;
  return (limit: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % limit;
  };
};
type Dice = ReturnType<typeof dice>;

/** A partition as written by relays that were killed and continued from an older checkpoint. */
const withStepsBack = <T>(items: readonly T[], roll: Dice): readonly T[] => {
  const sent: T[] = [];
  const times = new Map<number, number>();
  for (let at = 0; at < items.length; at += 1) {
    sent.push(items[at] as T);
    times.set(at, (times.get(at) ?? 0) + 1);
    if (roll(3) !== 0) continue;
    const back = roll(Math.min(at + 1, 6));
    const again = Array.from({ length: back + 1 }, (_, index) => at - back + index);
    if (again.every((index) => (times.get(index) ?? 0) < TIMES_MAX)) at -= back + 1;
  }
  return sent;
};

/** Merges the partitions' records into one list at random; each partition keeps its order. */
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

/**
 * Applies a seed's records with a consumer that crashes now and then, before or after its commit. Two members take
 * turns. Each continues with what it knew at the end of its last turn.
 */
const playSeed = async (seed: number, side: BusSide): Promise<number> => {
  const roll = dice(seed);
  const name = `seed-${seed}`;
  let dies = false;
  const counting = countingConsumer(name, name, async (events, transaction) => {
    await recordEffects(name, events, transaction);
    if (dies) throw new DatabaseUnavailable('killed before its commit');
  });
  const members = [consumerCore(counting, side.needs), consumerCore(counting, side.needs)];
  const apply = (batch: readonly RawRecord[]) =>
    members[roll(members.length)]?.apply({ records: batch, skipped: [] });
  const records = recordsOf(name, roll);
  for (let from = 0; from < records.length; ) {
    const batch = records.slice(from, from + 1 + roll(BATCH_MAX));
    dies = roll(3) === 0;
    if (dies) await apply(batch)?.catch(() => {});
    dies = false;
    await apply(batch);
    // A consumer that crashed after the commit, before it got the result, applies the batch again.
    if (roll(3) === 0) await apply(batch);
    from += batch.length;
  }
  return records.length - EVENTS;
};

test(`R4 records that come one to five times, shuffled between keys, take effect once and in order (${SEEDS} seeds)`, {
  timeout: SEEDS * SEED_MS_MAX,
}, async () => {
  const side = postgresSide(database.url);
  const inOrder = Map.groupBy(countedEvents(EVENTS, STREAMS), ({ streamId }) => streamId);
  const wanted = [...inOrder]
    .map(([stream, events]) => [stream, events.map(({ data }) => data['number'])])
    .sort();
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);
  let repeats = 0;
  const player = async (): Promise<void> => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
      repeats += await playSeed(seed, side);
      const seen = [...(await effectsOf(client, `seed-${seed}`))].sort();
      expect(seen, `seed ${seed}`).toEqual(wanted);
    }
  };
  await Promise.all(Array.from({ length: PLAYERS }, player));
  expect(repeats).toBeGreaterThan(EVENTS * SEEDS * 0.2);
  await side.close();
});
