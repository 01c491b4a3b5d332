/** Who is told of projections: other processes, where there are any. */
import { postgresEventStore } from '@cardea/event-store';
import { heardNotices, testDatabase, untilTrue } from '@cardea/testing';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { event, LOG, migrateThings, runThings, thingsProjection } from './things.ts';

const CHANNEL = 'cardea_positions_things';
const WAIT_MS = 30_000;
const TEST_MS_MAX = 60_000;
const test = testDatabase();

beforeAll(() => migrateThings(test.url));

it('a process that is alone sends no notices of its projections, and tells the next one what it missed', {
  timeout: TEST_MS_MAX,
}, async () => {
  const notices = await heardNotices(test.url, CHANNEL);
  const store = postgresEventStore({ connectionString: test.url, log: LOG });
  onTestFinished(() => store.close());
  const first = await runThings(test.url, { projections: [thingsProjection()], store });
  onTestFinished(() => first.stop());
  let made = 0;
  const make = async (): Promise<bigint> => {
    made += 1;
    const id = `thing-${made}`;
    const said = event('ThingMade', { id, name: 'a' });
    const [outcome] = await store.append([{ streamId: id, expected: 'any', events: [said] }]);
    if (outcome?.appended !== true) throw new Error('refused');
    expect(await first.positions.reached(['things'], outcome.position, WAIT_MS)).toBe(true);
    return outcome.position;
  };
  await untilTrue(async () => {
    await make();
    return (await notices.taken()).length === 0;
  });

  let heard = 0;
  const onAppliedElsewhere = (): void => {
    heard += 1;
  };
  const listening = { ...thingsProjection(), onAppliedElsewhere };
  const second = await runThings(test.url, { projections: [listening], store });
  onTestFinished(() => second.stop());
  const seen: (string | undefined)[] = [];
  await untilTrue(async () => {
    seen.push(...(await notices.taken()));
    return seen.length > 0 && heard > 0;
  });
  expect(seen[0]).toBe(`things things ${first.positions.passed('things')}`);
  const next = await make();
  await untilTrue(async () => second.positions.passed('things') >= next);
  expect(await notices.taken()).toContain(`things things ${next}`);
});

it('processes of other services are not told of projections', {
  timeout: TEST_MS_MAX,
}, async () => {
  const notices = await heardNotices(test.url, CHANNEL);
  const store = postgresEventStore({ connectionString: test.url, log: LOG });
  onTestFinished(() => store.close());
  const mine = await runThings(test.url, {
    ...{ projections: [thingsProjection()], store },
    service: 'identity',
  });
  onTestFinished(() => mine.stop());
  const theirs = await runThings(test.url, { projections: [], store, service: 'vault' });
  onTestFinished(() => theirs.stop());
  let made = 0;
  await untilTrue(
    async () => {
      made += 1;
      const said = event('ThingMade', { id: `silent-${made}`, name: 'a' });
      const [outcome] = await store.append([
        { streamId: `silent-${made}`, expected: 'any', events: [said] },
      ]);
      if (outcome?.appended !== true) throw new Error('refused');
      expect(await mine.positions.reached(['things'], outcome.position, WAIT_MS)).toBe(true);
      return (await notices.taken()).length === 0;
    },
    { deadlineMs: WAIT_MS },
  );
  expect(mine.leader.others.arePossible()).toBe(true);
});
