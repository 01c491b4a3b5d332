/** Projections notify other processes if there are any. */
import type { ServiceName } from '@cardea/contracts';
import { type EventStore, postgresEventStore } from '@cardea/event-store';
import { processSession } from '@cardea/postgres';
import { systemClock } from '@cardea/runtime';
import { heardNotices, testDatabase, untilTrue } from '@cardea/testing';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  event,
  LOG,
  migrateThings,
  type RunThings,
  runThings,
  thingsProjection,
} from './things.ts';

const CHANNEL = 'cardea_positions_things';
const WAIT_MS = 30_000;
const TEST_MS_MAX = 60_000;
const test = testDatabase();

beforeAll(() => migrateThings(test.url));

/** The session and the store of one process. */
const openedProcess = (service?: ServiceName) => {
  const leader = processSession({ connectionString: test.url, service, clock: systemClock });
  const store = postgresEventStore({ connectionString: test.url, log: LOG, session: leader });
  onTestFinished(async () => {
    await store.close();
    await leader.close();
  });
  return { leader, store };
};
const running = async (given: RunThings) => {
  const things = await runThings(test.url, given);
  onTestFinished(() => things.stop());
  return things;
};

let made = 0;
/** Creates a thing. Resolves with its position after the process has applied it. */
async function make(
  store: EventStore,
  { positions }: Awaited<ReturnType<typeof runThings>>,
): Promise<bigint> {
  made += 1;
  const id = `thing-${made}`;
  const said = event('ThingMade', { id, name: 'a' });
  const [outcome] = await store.append([{ streamId: id, expected: 'any', events: [said] }]);
  if (outcome?.appended !== true) throw new Error('refused');
  expect(await positions.reached(['things'], outcome.position, WAIT_MS)).toBe(true);
  return outcome.position;
}

it('a process that is alone sends no notices of its projections, and tells the next one what it missed', {
  timeout: TEST_MS_MAX,
}, async () => {
  const notices = await heardNotices(test.url, CHANNEL);
  const process = openedProcess();
  const { store } = process;
  const first = await running({ projections: [thingsProjection()], ...process });
  await untilTrue(async () => {
    await make(store, first);
    return (await notices.taken()).length === 0;
  });

  let heard = 0;
  const onAppliedElsewhere = (): void => {
    heard += 1;
  };
  const listening = { ...thingsProjection(), onAppliedElsewhere };
  const second = await running({ projections: [listening], store });
  const seen: (string | undefined)[] = [];
  await untilTrue(async () => {
    seen.push(...(await notices.taken()));
    return seen.length > 0 && heard > 0;
  });
  expect(seen[0]).toBe(`things things ${first.positions.passed('things')}`);
  const next = await make(store, first);
  await untilTrue(async () => second.positions.passed('things') >= next);
  expect(await notices.taken()).toContain(`things things ${next}`);
});

it('processes of other services are not told of projections', {
  timeout: TEST_MS_MAX,
}, async () => {
  const notices = await heardNotices(test.url, CHANNEL);
  const process = openedProcess('identity');
  const { store } = process;
  const mine = await running({ projections: [thingsProjection()], ...process });
  await running({ projections: [], store, service: 'vault' });
  await untilTrue(
    async () => {
      await make(store, mine);
      return (await notices.taken()).length === 0;
    },
    { deadlineMs: WAIT_MS },
  );
  expect(mine.leader.others.arePossible()).toBe(true);
});
