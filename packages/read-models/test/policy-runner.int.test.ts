import type { EventStore, RecordedEvent } from '@cardea/event-store';
import { parkedStreams } from '@cardea/log-follower';
import { processSession } from '@cardea/postgres';
import {
  DatabaseUnavailable,
  type EventPolicy,
  openDatabase,
  releasePolicyStream,
  runPolicies,
} from '@cardea/read-models';
import { type Clock, fakeClock, loops, systemClock } from '@cardea/runtime';
import { inMemoryEventStore, silentLogger, testDatabase, untilTrue } from '@cardea/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { event, LOG, migrateThings, SCHEMA } from './things.ts';

/** The longest time after which a position that a policy has reached is stored. */
const STORED_AFTER_MS = 5_000;
const test = testDatabase();
const stops: (() => Promise<void>)[] = [];
let store: EventStore;
let handled: string[];

beforeAll(() => migrateThings(test.url));
beforeEach(async () => {
  store = inMemoryEventStore(LOG);
  handled = [];
  const database = openDatabase({ connectionString: test.url, log: silentLogger });
  for (const table of ['policy_checkpoints', 'parked_events']) {
    await database.system.query(`DELETE FROM things.${table}`);
  }
  await database.close();
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const told = (said: RecordedEvent): string => `${said.streamId}/${said.revision}`;
const policy = (handle?: (said: RecordedEvent) => Promise<void>): EventPolicy => ({
  name: 'greet-new-things',
  on: ['ThingMade', 'ThingRenamed'],
  handle: async (said) => {
    await handle?.(said);
    handled.push(told(said));
  },
});

async function start(running: EventPolicy, clock: Clock = systemClock) {
  const [log, connectionString] = [silentLogger, test.url];
  const database = openDatabase({ connectionString, log });
  const leader = processSession({ connectionString, clock: systemClock, log });
  const watched = loops(clock);
  const policies = await runPolicies({
    policies: [running],
    store,
    database,
    schema: SCHEMA,
    leader,
    loops: watched,
    clock,
    log,
  });
  let closed: Promise<void> | undefined;
  /** Does not stop the policies, so what they have not stored is lost. */
  const crash = () => (closed ??= database.close().then(() => leader.close()));
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= policies.stop().then(crash));
  stops.push(stop);
  return { database, leader, stop, crash, degraded: () => watched.state()[0]?.degraded };
}

const append = (id: string, ...types: string[]) =>
  store.append([
    {
      streamId: `thing-${id}`,
      expected: 'any',
      events: types.map((type) => event(type, { id, name: id })),
    },
  ]);

/** Events after the stored checkpoint are handled again by the process that takes over. */
const checkpoint = async ({ database }: Awaited<ReturnType<typeof start>>) => {
  const { rows } = await database.system.query<{ position: string }>(
    'SELECT position FROM things.policy_checkpoints',
  );
  return rows[0]?.position;
};

describe('a policy', () => {
  it('hears the events that it named, each stream in order', async () => {
    await start(policy());
    for (const id of ['a', 'b', 'c']) await append(id, 'ThingMade', 'ThingTagged', 'ThingRenamed');
    await untilTrue(() => handled.length === 6);
    for (const id of ['a', 'b', 'c']) {
      expect(handled.filter((each) => each.startsWith(`thing-${id}`))).toEqual([
        `thing-${id}/1`,
        `thing-${id}/3`,
      ]);
    }
  });

  it('goes on behind its checkpoint after a stop, and in another process when its own is gone', async () => {
    const first = await start(policy());
    await append('a', 'ThingMade');
    await untilTrue(() => handled.length === 1);
    await first.stop();
    const second = await start(policy());
    await start(policy());
    await append('b', 'ThingMade');
    await untilTrue(async () => (await checkpoint(second)) === '2');
    await second.leader.close();
    await append('c', 'ThingMade');
    await untilTrue(() => handled.includes('thing-c/1'));
    expect(handled).toEqual(['thing-a/1', 'thing-b/1', 'thing-c/1']);
  });

  it('stores once in a while how far it has come, whatever it did', async () => {
    const clock = fakeClock('2031-05-04T03:02:01Z');
    const things = await start(policy(), clock);
    for (const id of ['a', 'b']) await append(id, 'ThingMade');
    await untilTrue(() => handled.length === 2);
    expect(await checkpoint(things)).toBe('0');
    await clock.advance(STORED_AFTER_MS);
    await untilTrue(async () => (await checkpoint(things)) === '2');
  });

  it('repeats after a crash what it had not stored, and misses nothing', async () => {
    const first = await start(policy(), fakeClock('2031-05-04T03:02:01Z'));
    await append('a', 'ThingMade');
    await untilTrue(() => handled.length === 1);
    await first.crash();
    await start(policy());
    await append('b', 'ThingMade');
    await untilTrue(() => handled.includes('thing-b/1'));
    expect(handled).toEqual(['thing-a/1', 'thing-a/1', 'thing-b/1']);
  });

  it('waits out an outage without parking anything', async () => {
    let away = true;
    const things = await start(
      policy(async () => {
        if (away) throw new DatabaseUnavailable('away');
      }),
    );
    await append('a', 'ThingMade');
    await untilTrue(() => things.degraded() === 'cannot continue: DatabaseUnavailable');
    away = false;
    await untilTrue(() => handled.length === 1 && things.degraded() === undefined);
    expect(await parkedStreams(things.database, SCHEMA)).toEqual([]);
  });

  it('tries a failing event again before it gives up', async () => {
    let failures = 3;
    await start(
      policy(async () => {
        if (failures-- > 0) throw new Error('not yet');
      }),
    );
    await append('a', 'ThingMade');
    await untilTrue(() => handled.length === 1);
  });

  it('parks the stream of an event that it cannot handle, and takes it in order once released', async () => {
    let broken = true;
    const careful = policy(async ({ streamId, type }) => {
      if (broken && streamId === 'thing-bad' && type === 'ThingRenamed') throw new RangeError('no');
    });
    const things = await start(careful);
    await append('bad', 'ThingMade', 'ThingRenamed', 'ThingRenamed');
    await append('good', 'ThingMade');
    await untilTrue(() => things.degraded() === 'parked streams: 1' && handled.length === 2);
    expect(handled.toSorted()).toEqual(['thing-bad/1', 'thing-good/1']);
    await append('bad', 'ThingMade');
    const parked = await untilTrue(async () => {
      const [stream] = await parkedStreams(things.database, SCHEMA);
      return stream?.events === 3 && stream;
    });
    expect(parked).toMatchObject({ fromPosition: 2n, errorCode: 'RangeError' });
    const { database } = things;
    const release = () =>
      releasePolicyStream({
        policy: careful,
        streamId: 'thing-bad',
        store,
        database,
        schema: SCHEMA,
      });
    expect(await release()).toEqual({ released: false, errorCode: 'RangeError' });
    broken = false;
    expect(await release()).toEqual({ released: true, events: 3 });
    await untilTrue(() => things.degraded() === undefined);
    await append('bad', 'ThingMade');
    await untilTrue(() => handled.includes('thing-bad/5'));
    expect(handled.filter((each) => each.startsWith('thing-bad'))).toEqual(
      [1, 2, 3, 4, 5].map((revision) => `thing-bad/${revision}`),
    );
  });
});
