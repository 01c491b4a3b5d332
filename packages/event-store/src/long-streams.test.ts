import { inMemoryEventStore, inMemoryLogs } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { CHANGES_MAX } from './appends/limits.ts';
import type { Command } from './command.ts';
import type { EventStore, Stream } from './event-store.ts';
import { accept, refuse } from './event-store.ts';
import { stateThrough } from './states/folding.ts';
import { isPlain } from './states/stored-states.ts';
import { STREAM_TAIL_EVENTS } from './states/stream-pages.ts';
import { streams } from './streams.ts';

type Named = { type: 'Named'; data: { name: string } };
type Person = { readonly name: string; readonly names: number };
const people: Stream<Person, Named> = {
  noun: 'person',
  initial: { name: '', names: 0 },
  evolve: (before, { data }) => ({ name: data.name, names: before.names + 1 }),
};
const at = { tenantId: 'acme', id: 'ann' };
const command = (id: string): Command => ({
  id,
  now: new Date(0),
  metadata: { tenantId: 'acme', actor: { type: 'user', id: 'ann' } },
});
const named = (name: string) => () => accept<Named>({ type: 'Named', data: { name } });
const LENGTH = 2500;

/** A process with an empty cache, and the number of events that it has read. */
function processOn(store: EventStore) {
  let read = 0;
  const counting: EventStore = {
    ...store,
    readStream: async (...asked) => {
      const page = await store.readStream(...asked);
      read += page.length;
      return page;
    },
    readStreams: async (asked) => {
      const found = await store.readStreams(asked);
      read += found.flat().length;
      return found;
    },
  };
  return { ...streams(counting), store: counting, read: () => read };
}

async function longStream() {
  const store = inMemoryEventStore('identity', inMemoryLogs());
  const writer = processOn(store);
  for (let n = 1; n <= LENGTH; n += 1) {
    await writer.decideOn(people, 'ann', command(`c${n}`), named(`n${n}`));
  }
  return { store, writer };
}

describe('C4 a stream of thousands of changes', () => {
  it('is read by its last events alone, whoever comes to it anew', async () => {
    const { store, writer } = await longStream();
    expect(writer.read()).toBeLessThanOrEqual(STREAM_TAIL_EVENTS);
    const reader = processOn(store);
    expect(await reader.load(people, at)).toMatchObject({
      state: { name: `n${LENGTH}`, names: LENGTH },
      revision: LENGTH,
    });
    const decider = processOn(store);
    const decided = await decider.decideOn(people, 'ann', command('other'), named('other'));
    expect(decided).toMatchObject({ state: { name: 'other', names: LENGTH + 1 } });
    for (const { read } of [reader, decider]) {
      expect(read()).toBeLessThanOrEqual(STREAM_TAIL_EVENTS);
    }
  });

  it('has the same state however it is folded', async () => {
    const { store } = await longStream();
    const events = await store.readLog('identity', 0n, LENGTH);
    const beside = {
      ...people,
      evolve: (before: Person, event: Named) => people.evolve(before, event),
    };
    for (const revision of [1, 2, 99, 100, 101, 255, 256, 257, 1000, 1001, 1777, LENGTH]) {
      const event = events[revision - 1];
      if (event === undefined) throw new Error('too few events');
      const state = { name: `n${revision}`, names: revision };
      expect((await stateThrough(store, people, event, undefined))?.state).toEqual(state);
      // A stored state of other code is ignored, so the stream is folded from its beginning.
      expect((await stateThrough(store, beside, event, undefined))?.state).toEqual(state);
    }
    expect(await processOn(store).load(beside, at)).toMatchObject({ state: { names: LENGTH } });
  });

  it('takes a command that comes again as a repeat, the first, a middle and the last one', async () => {
    const { store } = await longStream();
    for (const n of [1, 1200, LENGTH]) {
      const again = await processOn(store).decideOn(
        people,
        'ann',
        command(`c${n}`),
        named(`n${n}`),
      );
      expect(again).toMatchObject({ repeated: true, position: BigInt(n), revision: LENGTH });
    }
    const created = (person: Person) =>
      person.names === 0 ? accept<Named>({ type: 'Named', data: { name: 'n1' } }) : refuse('there');
    const again = await processOn(store).decideOn(people, 'ann', command('c1'), created);
    expect(again).toMatchObject({ accepted: true, repeated: true });
    await expect(
      processOn(store).decideOn(people, 'ann', command('c1200'), () =>
        accept<Named>(
          { type: 'Named', data: { name: 'a' } },
          { type: 'Named', data: { name: 'b' } },
        ),
      ),
    ).rejects.toThrow('already made other events');
  });
});

it('C4 a state that JSON does not keep whole is not stored', () => {
  expect(isPlain({ a: [1, 'x', null, { b: true, c: undefined }] })).toBe(true);
  for (const value of [new Date(0), new Map(), [undefined], 1n, Number.NaN, () => 1]) {
    expect(isPlain({ deep: [{ value }] })).toBe(false);
  }
});

describe('C4 a caller that changes one stream by requests', () => {
  const requested = (id: string, actorId: string): Command => ({
    id,
    now: new Date(0),
    metadata: { tenantId: 'acme', actor: { type: 'user', id: actorId }, requestId: id },
  });

  it("is refused beyond a number an hour, which leaves no event, and uses up nobody else's", async () => {
    const store = inMemoryEventStore('identity', inMemoryLogs());
    const { decideOn, decideOnMany } = streams(store);
    await decideOn(people, 'ann', requested('made', 'ann'), named('made'));
    for (let n = 1; n <= CHANGES_MAX; n += 1) {
      await decideOn(people, 'ann', requested(`c${n}`, 'ann'), named(`n${n}`));
    }
    const head = await store.head('identity');
    const refused = { name: 'TooManyChanges', retryAfterSeconds: expect.any(Number) };
    const more = decideOn(people, 'ann', requested('more', 'ann'), named('more'));
    await expect(more).rejects.toMatchObject(refused);
    const many = [{ id: 'ann', command: requested('many', 'ann'), decide: named('many') }];
    await expect(decideOnMany(people, many)).rejects.toMatchObject(refused);
    expect(await store.head('identity')).toBe(head);

    const others = [requested('by-admin', 'admin'), command('by-the-service')];
    for (const other of others) {
      expect((await decideOn(people, 'ann', other, named('x'))).accepted).toBe(true);
    }
    const elsewhere = await decideOn(people, 'bob', requested('bob', 'ann'), named('bob'));
    expect(elsewhere.accepted).toBe(true);
  });
});
