import type { EventStore } from '@cardea/event-store';
import { parkedStreams } from '@cardea/log-follower';
import { releaseProjectionStream, remove } from '@cardea/read-models';
import { armFailPoints } from '@cardea/runtime';
import { inMemoryEventStore, inMemoryLogs, testDatabase, untilTrue } from '@cardea/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  event,
  LOG,
  migrateThings,
  OTHER_TENANT,
  runThings,
  SCHEMA,
  TENANT,
  thingsProjection,
} from './things.ts';

const WAIT_MS = 30_000;
const test = testDatabase();
const stops: (() => Promise<void>)[] = [];
let store: EventStore;

beforeAll(() => migrateThings(test.url));
beforeEach(async () => {
  store = inMemoryEventStore(LOG);
  const { stop, database } = await start({ projections: [] });
  for (const table of ['things', 'changes', 'counts', 'projection_checkpoints', 'parked_events']) {
    await database.system.query(`DELETE FROM things.${table}`);
  }
  await stop();
});
afterEach(async () => {
  armFailPoints([]);
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

type Started = Awaited<ReturnType<typeof runThings>>;

async function start(over: Partial<Parameters<typeof runThings>[1]> = {}): Promise<Started> {
  const things = await runThings(test.url, { projections: [thingsProjection()], store, ...over });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= things.stop());
  stops.push(stop);
  return { ...things, stop };
}

async function append(id: string, ...events: ReturnType<typeof event>[]): Promise<bigint> {
  const [outcome] = await store.append([{ streamId: `thing-${id}`, expected: 'any', events }]);
  if (outcome?.appended !== true) throw new Error('refused');
  return outcome.position;
}

const nameOf = async ({ database }: Started, id: string): Promise<string | undefined> => {
  const { rows } = await database.asTenant(TENANT, (sql) =>
    sql.query<{ name: string }>('SELECT name FROM things.things WHERE tenant_id = $1 AND id = $2', [
      TENANT,
      id,
    ]),
  );
  return rows[0]?.name;
};

const passed = ({ positions }: Started, position: bigint) =>
  positions.reached(['things'], position, WAIT_MS);

describe('a projection', () => {
  it('says what its events said, whatever the values are made of', async () => {
    const things = await start();
    const tags = ['plain', 'a "quoted" one', 'back\\slash', 'comma, {brace}', 'NULL', ''];
    const doc = { list: [1, null, 'two "x" \\'], deep: { yes: true } };
    await append('1', event('ThingMade', { id: '1', name: 'Zoë "the" \\ {1}', tags, doc }));
    const last = await append('2', event('ThingMade', { id: '2', name: 'bare' }));
    expect(await passed(things, last)).toBe(true);
    const { rows } = await things.database.system.query(
      'SELECT id, name, tags, doc, renamed FROM things.things ORDER BY id',
    );
    expect(rows).toEqual([
      { id: '1', name: 'Zoë "the" \\ {1}', tags, doc, renamed: 0 },
      { id: '2', name: 'bare', tags: null, doc: null, renamed: 0 },
    ]);
  });

  it('adds to a count, over all batches', async () => {
    const things = await start();
    const made = (id: string, tenant = TENANT) => event('ThingMade', { id, name: id }, tenant);
    await append('1', made('1'), made('2'));
    await passed(things, await append('3', made('3')));
    await append('4', made('4', OTHER_TENANT));
    expect(await passed(things, await append('1', event('ThingRemoved', { id: '1' })))).toBe(true);
    const { rows } = await things.database.system.query(
      'SELECT tenant_id, made FROM things.counts ORDER BY made DESC',
    );
    expect(rows).toEqual([
      { tenant_id: TENANT, made: '2' },
      { tenant_id: OTHER_TENANT, made: '1' },
    ]);
  });

  it('starts where it stopped, and applies each event once', async () => {
    const first = await start();
    await passed(first, await append('1', event('ThingMade', { id: '1', name: 'one' })));
    await first.stop();
    const last = await append('1', event('ThingRenamed', { id: '1', name: 'two', times: 1 }));
    const second = await start();
    expect(await passed(second, last)).toBe(true);
    expect(await nameOf(second, '1')).toBe('two');
    const { rows } = await second.database.system.query(
      'SELECT count(*)::int AS n FROM things.changes',
    );
    expect(rows).toEqual([{ n: 2 }]);
  });

  it('passes events of others at once here, and in time elsewhere', async () => {
    const things = await start();
    const other = await start({ projections: [] });
    await passed(things, await append('1', event('ThingMade', { id: '1', name: 'one' })));
    const last = await append('2', event('Unheard', { id: '2' }));
    expect(await passed(things, last)).toBe(true);
    expect(await passed(other, last)).toBe(true);
    const { rows } = await other.database.system.query(
      'SELECT position FROM things.projection_checkpoints',
    );
    expect(rows).toEqual([{ position: String(last) }]);
  });

  it('is run by one process, and by another when that one loses its session', async () => {
    const [one, two] = [await start(), await start()];
    const isActive = (things: Started) => things.running.states()[0]?.active === true;
    await untilTrue(() => isActive(one) !== isActive(two));
    const [active, standby] = isActive(one) ? [one, two] : [two, one];
    expect(
      await passed(standby, await append('1', event('ThingMade', { id: '1', name: 'one' }))),
    ).toBe(true);
    await active.leader.close();
    await untilTrue(() => isActive(standby) && !isActive(active));
    const last = await append('1', event('ThingRenamed', { id: '1', name: 'two', times: 1 }));
    expect(await passed(standby, last)).toBe(true);
    expect(await nameOf(standby, '1')).toBe('two');
  });

  it('writes nothing once another process moved its checkpoint', async () => {
    const things = await start();
    await passed(things, await append('1', event('ThingMade', { id: '1', name: 'one' })));
    // Another process applied the next event, although this one still believes that it leads.
    await things.database.system.query(
      "UPDATE things.projection_checkpoints SET position = position + 1 WHERE name = 'things'",
    );
    await append('1', event('ThingRenamed', { id: '1', name: 'applied elsewhere', times: 1 }));
    const last = await append('2', event('ThingMade', { id: '2', name: 'two' }));
    expect(await passed(things, last)).toBe(true);
    expect([await nameOf(things, '1'), await nameOf(things, '2')]).toEqual(['one', 'two']);
  });

  it.for(['projection.before_commit', 'projection.after_commit'])(
    'neither loses nor doubles a batch that breaks off at %s',
    async (name) => {
      const committed: string[] = [];
      const onCommitted = (events: readonly { streamId: string }[]): void => {
        committed.push(...events.map(({ streamId }) => streamId));
      };
      const things = await start({ projections: [{ ...thingsProjection(), onCommitted }] });
      await passed(things, await append('0', event('ThingMade', { id: '0', name: 'zero' })));
      armFailPoints([{ name, action: 'throw', delayMs: 0, at: 1 }]);
      const last = await append('1', event('ThingMade', { id: '1', name: 'one' }));
      expect(await passed(things, last)).toBe(true);
      expect(await nameOf(things, '1')).toBe('one');
      await untilTrue(() => committed.includes('thing-1'));
      expect(committed).toEqual(['thing-0', 'thing-1']);
    },
  );

  it('blames no event for a table that is missing: it waits, says so, and goes on', async () => {
    const things = await start();
    await passed(things, await append('0', event('ThingMade', { id: '0', name: 'zero' })));
    const owner = await ownerOf();
    await owner('ALTER TABLE things.changes RENAME TO gone');
    const last = await append('1', event('ThingMade', { id: '1', name: 'one' }));
    await untilTrue(() => things.degraded()?.startsWith('cannot continue'));
    expect(await parkedStreams(things.database, SCHEMA)).toEqual([]);
    await owner('ALTER TABLE things.gone RENAME TO changes');
    expect(await passed(things, last)).toBe(true);
    await untilTrue(() => things.degraded() === undefined);
    await owner.end();
  });
});

describe('a poison event', () => {
  it.for(['Poison', 'TooManyTags'])(
    'R27 %s parks its stream, lets others flow, and is applied in order once released',
    async (type) => {
      let poisoned = true;
      const projection = thingsProjection(() => poisoned);
      const things = await start({ projections: [projection] });
      await append(
        'bad',
        event('ThingMade', { id: 'bad', name: 'before' }),
        event(type, { id: 'bad' }),
        event('ThingRenamed', { id: 'bad', name: 'behind', times: 1 }),
      );
      await append('good', event('ThingMade', { id: 'good', name: 'fine' }));
      const last = await append(
        'bad',
        event('ThingRenamed', { id: 'bad', name: 'last', times: 2 }),
      );
      expect(await passed(things, last)).toBe(true);
      expect(await nameOf(things, 'good')).toBe('fine');
      expect(await nameOf(things, 'bad')).toBe('before');
      // The notice of the commit may arrive before its result.
      await untilTrue(() => things.degraded() === 'parked streams: 1');
      const [parked] = await parkedStreams(things.database, SCHEMA);
      expect(parked).toMatchObject({
        streamId: 'thing-bad',
        fromPosition: 2n,
        eventType: type,
        events: 3,
      });

      const release = () =>
        releaseProjectionStream({
          projection,
          streamId: 'thing-bad',
          store,
          database: things.database,
          schema: SCHEMA,
          open: async () => null,
        });
      expect(await release()).toMatchObject({ released: false });
      expect(await nameOf(things, 'bad')).toBe('before');
      poisoned = false;
      expect(await release()).toEqual({ released: true, events: 3 });
      expect(await nameOf(things, 'bad')).toBe('last');
      expect(await parkedStreams(things.database, SCHEMA)).toEqual([]);
      await untilTrue(() => things.degraded() === undefined);
      const after = await append('bad', event('ThingRenamed', { id: 'bad', name: 'on', times: 3 }));
      expect(await passed(things, after)).toBe(true);
      expect(await nameOf(things, 'bad')).toBe('on');
    },
  );

  it('R27 takes back what its stream had granted, where the projection says so', async () => {
    const onParked = (streamId: string) => {
      const id = streamId.replace('thing-', '');
      return [{ table: 'things', change: remove({ tenant_id: TENANT, id }) }];
    };
    const things = await start({ projections: [{ ...thingsProjection(), onParked }] });
    const made = (id: string) => event('ThingMade', { id, name: id });
    await append('bad', made('bad'), event('Poison', { id: 'bad' }));
    await append('worse', made('worse'), event('TooManyTags', { id: 'worse' }));
    expect(await passed(things, await append('good', made('good')))).toBe(true);
    const names = await Promise.all(['bad', 'worse', 'good'].map((id) => nameOf(things, id)));
    expect(names).toEqual([undefined, undefined, 'good']);
  });

  it('R27 takes nothing with it out of a batch of 500', async () => {
    const late = inMemoryLogs();
    store = inMemoryEventStore(LOG, late);
    for (let index = 0; index < 500; index += 1) {
      const id = String(index);
      const made = event('ThingMade', { id, name: 'fine' });
      await append(id, made, ...(index % 100 === 7 ? [event('TooManyTags', { id })] : []));
    }
    const things = await start();
    expect(await passed(things, await store.head(LOG))).toBe(true);
    const { rows } = await things.database.system.query(
      'SELECT count(*)::int AS n FROM things.things',
    );
    expect(rows).toEqual([{ n: 500 }]);
    expect(await parkedStreams(things.database, SCHEMA)).toHaveLength(5);
  });
});

async function ownerOf() {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: test.url });
  await client.connect();
  const run = async (sql: string): Promise<void> => {
    await client.query(sql);
  };
  return Object.assign(run, { end: () => client.end() });
}
