import {
  type EventStore,
  EventStoreOverloaded,
  EventStoreUnavailable,
  eventStoreDbStores,
  type Log,
} from '@cardea/event-store';
import { type FakeEventStore, startFakeEventStore, untilTrue } from '@cardea/testing';
import { EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CALLERS, callerOf, EVENTS_PER_APPEND } from './appending.ts';
import { newAppend, newStream } from './store-fixture.ts';
import { writerProcesses } from './writer-processes.ts';

/** A call of the product ends within ten seconds; a busy machine takes a little longer. */
const CALL_MS = 15_000;
/** With polling only, each append would take a second and at least one read. */
const HEARD_APPENDS = 20;
const LOG: Log = 'identity';

type Rig = {
  readonly standIn: FakeEventStore;
  readonly store: EventStore;
  readonly other: EventStore;
  stop(): Promise<void>;
};

async function startRig(): Promise<Rig> {
  const standIn = await startFakeEventStore();
  const [store, other] = [storeAt(standIn.url), storeAt(standIn.url)];
  const stop = async () => {
    await Promise.all([store.close(), other.close()]);
    await standIn.stop();
  };
  return { standIn, store, other, stop };
}

let fixture: Rig;
let { standIn, store, other } = {} as Rig;
/** Call it in a `describe` whose tests run one after another. */
function rigForEach(): void {
  beforeEach(async () => {
    fixture = await startRig();
    ({ standIn, store, other } = fixture);
  });
  afterEach(() => fixture.stop());
}

function storeAt(url: string): EventStore {
  const stores = eventStoreDbStores({ url });
  return { ...stores.forLog(LOG), close: stores.close };
}

/** How long a call took that had to fail with an outage. */
async function outageMs(call: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await expect(call).rejects.toThrow(EventStoreUnavailable);
  return performance.now() - start;
}

async function counted(
  from: EventStore,
  at = standIn,
): Promise<{ calls: () => number; stop(): Promise<void> }> {
  let calls = 0;
  const stop = await from.subscribe(LOG, () => calls++);
  await untilTrue(() => at.subscriptions() > 0);
  return { calls: () => calls, stop };
}

describe('an append to EventStoreDB', () => {
  rigForEach();
  const { startWriter } = writerProcesses(() => standIn.url);

  it('survives connections that die under load: no process ends, none is lost, none stored twice', async () => {
    const writer = await startWriter(LOG, 'steady');
    for (let round = 0; round < 12; round++) {
      const acked = writer.acked().size;
      standIn.faults.loseAnswers(round % 3);
      standIn.faults.disconnectAll();
      // A call that meets the cuts of many rounds would fail as an outage, so each call ends before the
      // next round.
      const since = () => [...writer.acked()].slice(acked);
      await untilTrue(() => new Set(since().map(callerOf)).size === CALLERS);
    }
    await writer.stop(); // The writer stops with exit code 0.
    const events = await store.readLog(LOG, 0n, 100_000);
    const lengths = new Map<string, number>();
    for (const { streamId } of events) lengths.set(streamId, (lengths.get(streamId) ?? 0) + 1);
    expect([...writer.acked()].filter((streamId) => !lengths.has(streamId))).toEqual([]);
    expect(new Set(lengths.values())).toEqual(new Set([EVENTS_PER_APPEND]));
    expect(standIn.calls('batchAppend')).toBe(0);
  });

  it('whose answer was lost is stored once, and is no repeat', async () => {
    standIn.faults.loseAnswers(1);
    const append = newAppend();
    const [outcome] = await store.append([append]);
    expect(outcome).toMatchObject({ appended: true, repeated: false, revision: 1 });
    expect(standIn.calls('append')).toBe(2);
    expect(await other.readLog(LOG, 0n, 10)).toHaveLength(1);
    expect(await other.readLast(append.streamId)).toMatchObject({
      position: outcome?.appended && outcome.position,
    });
  });

  it('is an outage while the server is down, and well as soon as it is back on its port', async () => {
    await store.append([newAppend()]);
    await standIn.faults.goDown();
    const calls = [
      store.append([newAppend()]),
      store.readStream(newStream()),
      store.readLog(LOG, 0n, 10),
      store.head(LOG),
    ];
    for (const ms of await Promise.all(calls.map(outageMs))) expect(ms).toBeLessThan(CALL_MS);
    await standIn.faults.comeBack();
    expect(await store.append([newAppend()])).toMatchObject([{ appended: true }]);
    expect(await store.readLog(LOG, 0n, 10)).toHaveLength(2);
  });

  it('waits out a restart of the server on its port', async () => {
    await store.append([newAppend()]);
    await standIn.faults.goDown();
    const appending = store.append([newAppend()]);
    await standIn.faults.comeBack();
    expect(await appending).toMatchObject([{ appended: true, repeated: false }]);
  });

  it('is an outage while the server starts', async () => {
    standIn.faults.notReady(true);
    await outageMs(store.append([newAppend()]));
    standIn.faults.notReady(false);
    expect(await store.append([newAppend()])).toMatchObject([{ appended: true }]);
  });

  it('is refused at once when too many wait', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 4200 }, () => store.append([newAppend()])),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(4200 - 4096);
    for (const outcome of refused) {
      expect(outcome).toMatchObject({ reason: expect.any(EventStoreOverloaded) });
    }
  });

  it('that the server refuses is no outage', async () => {
    const streamId = newStream();
    await store.append([newAppend(streamId)]);
    const client = EventStoreDBClient.connectionString(standIn.url);
    await client.tombstoneStream(`${LOG}.${streamId}`);
    await client.dispose();
    const refused = await store.append([newAppend(streamId, 1)]).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    expect(refused).not.toBeInstanceOf(EventStoreUnavailable);
    const large = newAppend();
    const events = large.events.map((event) => ({ ...event, data: { text: 'x'.repeat(1e6) } }));
    await expect(store.append([{ ...large, events }])).rejects.toThrow(RangeError);
  });
});

describe('a subscription to EventStoreDB', () => {
  rigForEach();
  it('that was dropped is made again, and hears what came between', async () => {
    const { calls, stop } = await counted(store);
    for (const drop of [standIn.faults.dropSubscriptions, standIn.faults.disconnectAll]) {
      const [subscribed, before] = [standIn.calls('subscribe'), calls()];
      drop();
      await other.append([newAppend()]);
      const again = () => standIn.calls('subscribe') > subscribed && standIn.subscriptions() === 1;
      await untilTrue(() => again() && calls() > before);
      const looks = standIn.calls('read');
      for (let nth = 0; nth < HEARD_APPENDS; nth += 1) {
        const heard = calls();
        await other.append([newAppend()]);
        await untilTrue(() => calls() > heard);
      }
      expect(standIn.calls('read') - looks).toBeLessThan(HEARD_APPENDS);
    }
    await stop();
  });

  it('is left on the server by nobody who unsubscribes or closes', async () => {
    const { stop } = await counted(store);
    await stop();
    await untilTrue(() => standIn.subscriptions() === 0);
    await counted(store);
    await store.close();
    await untilTrue(() => standIn.subscriptions() === 0);
  });
});

describe('a quiet log in EventStoreDB', () => {
  rigForEach();
  it('is level with its head, whatever the others write', async () => {
    const [outcome] = await store.append([newAppend()]);
    const position = (outcome?.appended && outcome.position) || 0n;
    standIn.faults.appendForeign(1000);
    for (const each of [store, other]) {
      expect(await each.head(LOG)).toBe(position);
      expect(await each.head('vault')).toBe(0n);
      expect(await each.readLog(LOG, position, 10)).toEqual([]);
    }
  });

  it('is read without another look at what the others wrote', async () => {
    await store.append([newAppend()]);
    const { stop } = await counted(store);
    standIn.faults.appendForeign(5000);
    const head = await store.head(LOG);
    const before = standIn.lookedAt();
    expect(await store.readLog(LOG, head, 10)).toEqual([]);
    expect(standIn.lookedAt() - before).toBeLessThan(100);
    await other.append([newAppend()]);
    expect(await store.readLog(LOG, head, 10)).toHaveLength(1);
    await stop();
  });

  it('answers no head from before a look that another look overtook', async () => {
    standIn.faults.delay(20);
    const early = store.head(LOG);
    const [outcome] = await other.append([newAppend()]);
    expect(await store.head(LOG)).toBe(outcome?.appended && outcome.position);
    await early;
  });
});

/** Each test waits for seconds, so they run concurrently, each with its own server. */
describe('a peer of EventStoreDB that says nothing', { concurrent: true }, () => {
  const withRig = (test: (own: Rig) => Promise<void>) => async () => {
    const own = await startRig();
    await test(own).finally(own.stop);
  };

  it(
    'fails calls in time, and they are well once it speaks',
    withRig(async (own) => {
      await own.store.append([newAppend()]);
      own.standIn.faults.freeze();
      const calls = [own.store.append([newAppend()]), own.store.readLast(newStream())];
      for (const ms of await Promise.all(calls.map(outageMs))) expect(ms).toBeLessThan(CALL_MS);
      own.standIn.faults.thaw();
      expect(await own.store.append([newAppend()])).toMatchObject([{ appended: true }]);
    }),
  );

  it(
    'fails calls in time when it takes them and never answers',
    withRig(async (own) => {
      own.standIn.faults.stayMute(true);
      expect(await outageMs(own.store.append([newAppend()]))).toBeLessThan(CALL_MS);
      own.standIn.faults.stayMute(false);
      expect(await own.store.append([newAppend()])).toMatchObject([{ appended: true }]);
    }),
  );

  it(
    'fails no append where only the connection is dead',
    withRig(async (own) => {
      await own.store.append([newAppend()]);
      own.standIn.faults.strand();
      const [outcome] = await own.store.append([newAppend()]);
      expect(outcome).toMatchObject({ appended: true, repeated: false });
    }),
  );

  it(
    'keeps no append from being heard of, and its subscription is made again',
    withRig(async (own) => {
      const { calls, stop } = await counted(own.store, own.standIn);
      const [subscribed, before] = [own.standIn.calls('subscribe'), calls()];
      own.standIn.faults.strand();
      await appendFromElsewhere(own.standIn);
      await untilTrue(() => calls() > before, { deadlineMs: CALL_MS });
      await untilTrue(() => own.standIn.calls('subscribe') > subscribed);
      await stop();
    }),
  );

  it(
    'is asked again when it does not confirm a subscription',
    withRig(async (own) => {
      const { stop } = await counted(own.store, own.standIn);
      own.standIn.faults.stayMute(true);
      own.standIn.faults.dropSubscriptions();
      await untilTrue(() => own.standIn.calls('subscribe') > 1);
      own.standIn.faults.stayMute(false);
      await untilTrue(() => own.standIn.subscriptions() === 1);
      await stop();
    }),
  );
});

/** One append over a separate connection, because clients of one process with the same server name share one. */
async function appendFromElsewhere({ port }: FakeEventStore): Promise<void> {
  const passing = storeAt(`esdb://localhost:${port}?tls=false`);
  await passing.append([newAppend()]);
  await passing.close();
}
