import {
  EventIdTaken,
  type EventStore,
  type RecordedEvent,
  STREAM_PAGE_EVENTS,
  STREAM_TAIL_EVENTS,
  streamPages,
} from '@cardea/event-store';
import { untilTrue } from '@cardea/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeBasis } from './basis.ts';
import { describeOrder } from './order.ts';
import { type EventStoreFixture, newAppend, newEvent, newStream } from './store-fixture.ts';

const FOLLOWED_EVENTS = 60;
const EVENTS_PER_APPEND = 200;

export function describeEventStore(adapter: string, fixture: () => EventStoreFixture): void {
  describe(`event store, ${adapter}`, () => {
    let store: EventStore;
    let other: EventStore;
    beforeEach(() => {
      store = fixture().open('identity');
      other = fixture().open('identity');
    });
    afterEach(async () => {
      await Promise.all([store.close(), other.close()]);
    });

    describeAppends(fixture, () => ({ store, other }));
    describeBasis(fixture, () => ({ store, other }));
    describeReads(() => ({ store, other }));
    describeOrder(fixture, () => ({ store, other }));
  });
}

type Stores = () => { readonly store: EventStore; readonly other: EventStore };

function describeAppends(fixture: () => EventStoreFixture, stores: Stores): void {
  it('stores what it was given, with its place', async () => {
    const { store, other } = stores();
    const streamId = newStream();
    const events = [newEvent({ name: 'Zoë "x" \\ 漢', list: [1, 2.5, null, true] }), newEvent()];
    const [outcome] = await store.append([{ streamId, expected: 0, events }]);
    expect(outcome).toMatchObject({ appended: true, revision: 2, repeated: false });
    const recorded = await other.readStream(streamId);
    expect(recorded).toMatchObject(
      events.map((event, index) => ({ ...event, log: 'identity', streamId, revision: index + 1 })),
    );
    expect(recorded[1]?.position).toBe(outcome?.appended && outcome.position);
  });

  it('refuses an append at another revision and says which it is', async () => {
    const { store } = stores();
    const streamId = newStream();
    const refused = (actualRevision: number) => [{ appended: false, actualRevision }];
    expect(await store.append([newAppend(streamId, 1)])).toEqual(refused(0));
    await store.append([newAppend(streamId, 0)]);
    expect(await store.append([newAppend(streamId, 0)])).toEqual(refused(1));
    expect(await store.append([newAppend(streamId, 2)])).toEqual(refused(1));
    expect(await store.append([newAppend(streamId, 1)])).toMatchObject([{ revision: 2 }]);
    expect(await store.readStream(streamId)).toHaveLength(2);
  });

  it('appends at any revision when told so', async () => {
    const { store, other } = stores();
    const streamId = newStream();
    const appends = Array.from({ length: 20 }, () => newAppend(streamId, 'any'));
    await Promise.all(appends.map((append, n) => (n % 2 ? store : other).append([append])));
    const revisions = (await store.readStream(streamId)).map((event) => event.revision);
    expect(revisions).toEqual(appends.map((_, index) => index + 1));
  });

  it('lets each append of a batch stand or fall alone', async () => {
    const { store } = stores();
    const [fresh, taken, chained] = [newStream(), newStream(), newStream()];
    await store.append([newAppend(taken)]);
    const outcomes = await store.append([
      newAppend(fresh),
      newAppend(taken, 0),
      newAppend(chained, 0),
      newAppend(chained, 1),
      newAppend(newStream(), 7),
      newAppend(taken, 'any'),
    ]);
    expect(outcomes).toMatchObject([
      { appended: true, revision: 1 },
      { appended: false, actualRevision: 1 },
      { appended: true, revision: 1 },
      { appended: true, revision: 2 },
      { appended: false, actualRevision: 0 },
      { appended: true, revision: 2 },
    ]);
    expect(await store.readStream(chained)).toHaveLength(2);
  });

  it('leaves no trace of a refused append', async () => {
    const { store } = stores();
    const streamId = newStream();
    await store.append([newAppend(streamId, 3)]);
    expect(await store.readLast(streamId)).toBeUndefined();
    expect(await store.append([newAppend(streamId, 0)])).toMatchObject([{ revision: 1 }]);
  });

  it('R23 stores a repeated command once and answers its first place', async () => {
    const { store } = stores();
    const streamId = newStream();
    const append = { ...newAppend(streamId), events: [newEvent(), newEvent()] };
    const [first] = await store.append([append]);
    await store.append([newAppend(streamId, 2)]);
    const position = first?.appended && first.position;
    for (const expected of [0, 2, 3, 'any'] as const) {
      const other = fixture().open('identity'); // The other store has not seen the first append.
      const again = await other.append([{ ...append, expected }, newAppend()]);
      await other.close();
      expect(again).toMatchObject([
        { appended: true, repeated: true, revision: 2, position },
        { appended: true, repeated: false },
      ]);
    }
    expect(await store.readStream(streamId)).toHaveLength(3);
    expect(await store.append([newAppend(streamId, 3)])).toMatchObject([{ revision: 4 }]);
  });

  it('stores a command that is sent twice at the same moment once', async () => {
    const { store, other } = stores();
    for (const expected of [0, 'any'] as const) {
      const append = newAppend(newStream(), expected);
      const outcomes = await Promise.all(
        [store, other, store, other].map((each) => each.append([append])),
      );
      expect(outcomes.flat().every((outcome) => outcome.appended)).toBe(true);
      expect(await store.readStream(append.streamId)).toHaveLength(1);
    }
  });

  it('refuses an event id that names an event of another stream, and nothing beside it', async () => {
    const { store } = stores();
    const append = newAppend();
    await store.append([append]);
    const beside = newAppend();
    const [taken, well] = await Promise.allSettled([
      store.append([{ ...append, streamId: newStream() }]),
      store.append([beside]),
    ]);
    expect(taken).toMatchObject({ reason: expect.any(EventIdTaken) });
    expect(well).toMatchObject({ value: [{ appended: true }] });
    await expect(
      store.append([{ ...newAppend(), events: [newEvent(), ...append.events] }]),
    ).rejects.toThrow(EventIdTaken);
  });

  it('R23 lets one of a storm on a stream win', async () => {
    const { store, other } = stores();
    const streamId = newStream();
    const storm = Array.from({ length: 100 }, (_, n) =>
      (n % 2 ? store : other).append([newAppend(streamId, 0)]),
    );
    const outcomes = (await Promise.all(storm)).flat();
    expect(outcomes.filter((outcome) => outcome.appended)).toHaveLength(1);
    expect(outcomes.filter((outcome) => !outcome.appended)).toEqual(
      Array(99).fill({ appended: false, actualRevision: 1 }),
    );
    expect(await store.readStream(streamId)).toHaveLength(1);
  });
}

function describeReads(stores: Stores): void {
  it('reads a stream from a revision on, and its last event alone', async () => {
    const { store } = stores();
    const streamId = newStream();
    const events = [newEvent({ n: 1 }), newEvent({ n: 2 }), newEvent({ n: 3 })];
    await store.append([{ streamId, expected: 0, events }]);
    const numbers = async (from: number) =>
      (await store.readStream(streamId, from)).map((event) => event.data['n']);
    expect(await Promise.all([numbers(1), numbers(3), numbers(4)])).toEqual([[1, 2, 3], [3], []]);
    expect(await store.readLast(streamId)).toMatchObject({ revision: 3, data: { n: 3 } });
    expect(await store.readStream(newStream())).toEqual([]);
  });

  it('reads several streams at once, each from its own revision or its last event alone', async () => {
    const { store, other } = stores();
    const [long, short] = [newStream(), newStream()];
    const events = [newEvent({ n: 1 }), newEvent({ n: 2 }), newEvent({ n: 3 })];
    await other.append([{ streamId: long, expected: 0, events }, newAppend(short)]);
    const found = await store.readStreams([
      { streamId: long, from: 2 },
      { streamId: newStream(), from: 1 },
      { streamId: short, from: 'last' },
      { streamId: long, from: 'last' },
      { streamId: newStream(), from: 'last' },
      { streamId: long, from: 4 },
      { streamId: short, from: 1 },
    ]);
    expect(found.map((each) => each.map(({ revision }) => revision))).toEqual([
      [2, 3],
      [],
      [1],
      [3],
      [],
      [],
      [1],
    ]);
    expect(found[0]).toEqual((await store.readStream(long)).slice(1));
    expect(await store.readStreams([])).toEqual([]);
  });

  it('C4 reads a stream of any length, in pages, and its last events alone', async () => {
    const { store } = stores();
    const streamId = newStream();
    const length = STREAM_PAGE_EVENTS + STREAM_TAIL_EVENTS + 1;
    for (let stored = 0; stored < length; stored += EVENTS_PER_APPEND) {
      const count = Math.min(EVENTS_PER_APPEND, length - stored);
      const events = Array.from({ length: count }, (_, n) => newEvent({ n: stored + n }));
      await store.append([{ streamId, expected: stored, events }]);
    }
    const revisions = (events: readonly RecordedEvent[]) => events.map(({ revision }) => revision);
    const upTo = (last: number, from = 1) =>
      Array.from({ length: last - from + 1 }, (_, index) => from + index);
    expect(revisions(await store.readStream(streamId))).toEqual(upTo(STREAM_PAGE_EVENTS));
    const pages = [];
    for await (const page of streamPages(store, streamId)) pages.push(...revisions(page));
    expect(pages).toEqual(upTo(length));
    const [tail = [], whole = []] = await store.readStreams([
      { streamId, from: 'tail' },
      { streamId, from: STREAM_PAGE_EVENTS },
    ]);
    expect(revisions(tail)).toEqual(upTo(length, length - STREAM_TAIL_EVENTS + 1));
    expect(revisions(whole)).toEqual(upTo(length, STREAM_PAGE_EVENTS));
  }, 30_000);

  it('reads any log in order, as much of it as asked', async () => {
    const { store } = stores();
    const before = await store.head('identity');
    await store.append([newAppend(), newAppend(), newAppend()]);
    const all = await store.readLog('identity', before, 10);
    expect(all).toHaveLength(3);
    expect(all.at(-1)?.position).toBe(await store.head('identity'));
    expect(await store.readLog('identity', before, 2)).toEqual(all.slice(0, 2));
    expect(await store.readLog('identity', all[1]?.position ?? 0n, 10)).toEqual(all.slice(2));
    expect(await store.readLog('vault', 0n, 10)).toEqual([]);
    expect(await store.head('vault')).toBe(0n);
  });

  it('wakes a subscriber after appends of its own and of other processes', async () => {
    const { store, other } = stores();
    for (const writer of [store, other]) {
      let calls = 0;
      const unsubscribe = await store.subscribe('identity', () => calls++);
      await untilTrue(async () => calls > 0 || void (await writer.append([newAppend()])));
      calls = 0;
      await writer.append([newAppend()]);
      await untilTrue(() => calls > 0, { what: 'the subscriber is woken' });
      await unsubscribe();
    }
  });

  it('brings a follower, whenever it is woken, all that the log has, whoever appended it', async () => {
    const { store, other } = stores();
    const from = await store.head('identity');
    const followed: RecordedEvent[] = [];
    let calls = 0;
    const unsubscribe = await store.subscribe('identity', () => calls++);
    const data = { name: 'Zoë "x" \\ 漢', amount: 1e21, list: [-0, 2.5, null, { on: true }] };
    const writing = Array.from({ length: FOLLOWED_EVENTS }, async (_, n) => {
      const append = { streamId: newStream(), expected: 0, events: [newEvent({ ...data, n })] };
      await (n % 3 === 0 ? other : store).append([append]);
    });
    while (followed.length < FOLLOWED_EVENTS) {
      const woken = calls;
      for (;;) {
        const page = await store.followLog('identity', followed.at(-1)?.position ?? from, 7);
        followed.push(...page);
        if (page.length < 7) break;
      }
      if (followed.length < FOLLOWED_EVENTS) await untilTrue(() => calls > woken);
    }
    await Promise.all(writing);
    await unsubscribe();
    expect(followed).toEqual(await other.readLog('identity', from, FOLLOWED_EVENTS + 1));
  });

  it('lets a subscriber that was away go on where it stopped', async () => {
    const { store, other } = stores();
    const started = await store.head('identity');
    const first = newAppend();
    await other.append([first]);
    const [seen] = await store.readLog('identity', started, 10);
    const missed = [newAppend(), newAppend()];
    await other.append(missed);
    const rest = await store.readLog('identity', seen?.position ?? 0n, 10);
    expect([seen, ...rest].map((event) => event?.id)).toEqual(
      [first, ...missed].map((append) => append.events[0]?.id),
    );
  });
}
