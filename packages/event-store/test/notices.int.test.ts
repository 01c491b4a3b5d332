/** Appends notify other processes where there are any. */

import { type Log, postgresEventStore } from '@cardea/event-store';
import { heardNotices, testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { newAppend } from './store-fixture.ts';

const LOG = 'identity';
const CHANNEL = 'cardea_events_1';
/** Other processes' sessions are counted every nine seconds. */
const WAIT_MS = 30_000;
const TEST_MS_MAX = 60_000;

const database = testDatabase();

const opened = (service?: Log) => {
  const store = postgresEventStore({
    ...{ connectionString: database.url, log: service ?? LOG },
    service,
  });
  onTestFinished(() => store.close());
  return store;
};

it('a process that is alone tells nobody of its appends, and tells the next one that begins to listen', async () => {
  const notices = await heardNotices(database.url, CHANNEL);
  const first = opened();
  await first.subscribe(LOG, () => {});
  await untilTrue(async () => {
    await first.append([newAppend()]);
    return (await notices.taken()).length === 0;
  });
  // A delayed notice has been sent by now, or never will be.
  await untilTrue(async () => {
    await first.append([newAppend()]);
    return (await notices.taken()).length === 0;
  });

  const second = opened();
  let woken = 0;
  await second.subscribe(LOG, () => {
    woken += 1;
  });
  const seen: (string | undefined)[] = [];
  await untilTrue(async () => {
    seen.push(...(await notices.taken()));
    return seen.length >= 2 && woken > 0;
  });
  expect(seen[0]).toBe('joined');
  expect(seen[1]).toMatch(/^\d+$/);

  await first.append([newAppend()]);
  await untilTrue(async () => (await notices.taken()).some((payload) => payload === seen[1]));
});

it('processes of other services are not told', { timeout: TEST_MS_MAX }, async () => {
  const notices = await heardNotices(database.url, CHANNEL);
  const mine = opened('identity');
  await mine.subscribe('identity', () => {});
  const theirs = opened('vault');
  await theirs.subscribe('vault', () => {});
  await untilTrue(
    async () => {
      await Promise.all([mine, theirs].map((store) => store.append([newAppend()])));
      return (await notices.taken()).length === 0;
    },
    { deadlineMs: WAIT_MS },
  );
});

it('a process that begins to listen late still says so', async () => {
  const notices = await heardNotices(database.url, CHANNEL);
  const store = opened();
  await store.append([newAppend()]); // Opens the session of notices before anybody subscribes.
  await untilTrue(async () => (await notices.taken()).length > 0);
  await store.subscribe(LOG, () => {});
  await untilTrue(async () => (await notices.taken()).includes('joined'));
});

it('a store that was closed connects to nothing again, whatever it still has to tell', async () => {
  const store = postgresEventStore({ connectionString: database.url, log: LOG });
  await store.subscribe(LOG, () => {});
  for (let appends = 0; appends < 50; appends += 1) await store.append([newAppend()]);
  const late = Promise.allSettled([store.head(LOG), store.readLog(LOG, 0n, 1)]);
  await store.close();
  await late;
  await expect(store.head(LOG)).rejects.toMatchObject({ name: 'EventStoreUnavailable' });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  await untilTrue(async () => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'cardea%'`,
    );
    return rowCount === 0;
  });
});
