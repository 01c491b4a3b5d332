import { type EventStore, postgresEventStore } from '@cardea/event-store';
import { armFailPoints, systemClock } from '@cardea/runtime';
import { inMemoryEventStore, testDatabase, untilTrue } from '@cardea/testing';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { event, LOG, migrateThings, runThings, TENANT, thingsProjection } from './things.ts';

const WAIT_MS = 30_000;
const test = testDatabase();
type Started = Awaited<ReturnType<typeof runThings>>;

beforeAll(() => migrateThings(test.url));
afterEach(() => armFailPoints([]));

const start = (store: EventStore): Promise<Started> =>
  runThings(test.url, { projections: [thingsProjection()], store });

async function append(store: EventStore, id: string, said: ReturnType<typeof event>) {
  const [outcome] = await store.append([
    { streamId: `thing-${id}`, expected: 'any', events: [said] },
  ]);
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

/** Long enough for a busy machine to send the request and get the response. */
const PAUSE_MS = 6_000;

describe('a projection that runs in another process', () => {
  it('tells those that wait for its rows when it has applied some, not when it passed events', async () => {
    const store = postgresEventStore({ connectionString: test.url, log: LOG });
    const leader = await start(store);
    await untilTrue(() => leader.running.states()[0]?.active === true);
    let heard = 0;
    const onAppliedElsewhere = (): void => {
      heard += 1;
    };
    const listening = { ...thingsProjection(), onAppliedElsewhere };
    const other = await runThings(test.url, { projections: [listening], store });
    const made = await append(store, 'told', event('ThingMade', { id: 'told', name: 'a' }));
    expect(await passed(other, made)).toBe(true);
    await untilTrue(() => heard > 0);
    const before = heard;
    const ignored = await append(store, 'told', event('Unknown', { id: 'told' }));
    expect(await passed(other, ignored)).toBe(true);
    expect(heard).toBe(before);
    await Promise.all([leader.stop(), other.stop()]);
    await store.close();
  });
});

describe('a write that was read back', () => {
  const PAIRS = 1000;
  const CLIENTS = 10;

  it('R24 is seen in 1,000 of 1,000 pairs, in this process and in another', async () => {
    const mine = postgresEventStore({ connectionString: test.url, log: LOG });
    const theirs = postgresEventStore({ connectionString: test.url, log: LOG });
    const [one, two] = [await start(mine), await start(theirs)];
    let stale = 0;
    const writeAndRead = async (pair: number): Promise<void> => {
      const [id, name] = [`pair-${pair % CLIENTS}`, `n${pair}`];
      const type = pair < CLIENTS ? 'ThingMade' : 'ThingRenamed';
      const position = await append(mine, id, event(type, { id, name, times: pair }));
      const reader = pair % 3 === 0 ? two : one;
      if (!(await passed(reader, position)) || (await nameOf(reader, id)) !== name) stale += 1;
    };
    const client = async (_: unknown, own: number): Promise<void> => {
      for (let pair = own; pair < PAIRS; pair += CLIENTS) await writeAndRead(pair);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(stale).toBe(0);
    await Promise.all([one.stop(), two.stop()]);
    await Promise.all([mine.close(), theirs.close()]);
  }, 120_000);

  it('R24 is not waited for longer than asked while the projection stands still', async () => {
    armFailPoints([
      { name: 'projection.before_commit', action: 'delay', delayMs: PAUSE_MS, at: 1 },
    ]);
    const store = inMemoryEventStore(LOG);
    const paused = { ...thingsProjection(), name: 'paused' };
    const things = await runThings(test.url, { projections: [paused], store });
    const position = await append(store, '1', event('ThingMade', { id: '1', name: 'one' }));
    const before = systemClock.monotonicMs();
    expect(await things.positions.reached(['paused'], position, 200)).toBe(false);
    expect(systemClock.monotonicMs() - before).toBeLessThan(PAUSE_MS - 1000);
    expect(await things.positions.reached(['paused'], position, WAIT_MS)).toBe(true);
    await things.stop();
  });
});
