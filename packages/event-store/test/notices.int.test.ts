/** Who is told of appends: other processes, where there are any. */
import { postgresEventStore } from '@cardea/event-store';
import { testDatabase, untilTrue } from '@cardea/testing';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { newAppend } from './store-fixture.ts';

const LOG = 'identity';
const CHANNEL = 'cardea_events';
/** Notices of one session come in the order of their commits, whatever their channels are. */
const MARKS = 'marks';

const database = testDatabase();

/** The notices that the server sends, and a mark that comes after all of them so far. */
async function heardNotices() {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  let heard: (string | undefined)[] = [];
  let marks = 0;
  client.on('notification', ({ channel, payload }) => {
    if (channel === MARKS) marks += 1;
    else heard.push(payload);
  });
  await client.query(`LISTEN ${CHANNEL}`);
  await client.query(`LISTEN ${MARKS}`);
  return {
    /** Those since the last call. */
    taken: async () => {
      const before = marks;
      await client.query(`NOTIFY ${MARKS}`);
      await untilTrue(async () => marks > before);
      const all = heard;
      heard = [];
      return all;
    },
  };
}

const opened = () => {
  const store = postgresEventStore({ connectionString: database.url, log: LOG });
  onTestFinished(() => store.close());
  return store;
};

it('a process that is alone tells nobody of its appends, and tells the next one that begins to listen', async () => {
  const notices = await heardNotices();
  const first = opened();
  await first.subscribe(LOG, () => {});
  await untilTrue(async () => {
    await first.append([newAppend()]);
    return (await notices.taken()).length === 0;
  });
  // What was left to be told later is told by now, or never will be.
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

it('a process that begins to listen late still says so', async () => {
  const notices = await heardNotices();
  const store = opened();
  await store.append([newAppend()]); // opens the session of notices before anybody subscribes
  await untilTrue(async () => (await notices.taken()).length > 0);
  await store.subscribe(LOG, () => {});
  await untilTrue(async () => (await notices.taken()).includes('joined'));
});
