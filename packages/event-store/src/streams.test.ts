import { inMemoryEventStore, inMemoryLogs } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { turns } from './appends/limits.ts';
import type { Command } from './command.ts';
import {
  accept,
  type EventStore,
  EventStoreUnavailable,
  refuse,
  type Stream,
} from './event-store.ts';
import { streams } from './streams.ts';
import { upcasting } from './upcasting.ts';

type Counted = { type: 'Counted'; data: { by: number } };
const counter: Stream<number, Counted> = {
  noun: 'counter',
  initial: 0,
  evolve: (count, event) => count + event.data.by,
};
const gauge: Stream<number, Counted> = {
  ...counter,
  noun: 'gauge',
  stateCarrying: true,
  evolve: (_, event) => event.data.by,
};
const counted = (by: number): Counted => ({ type: 'Counted', data: { by } });
const one = () => accept(counted(1));
const command = (id: string, tenantId = 'acme'): Command => ({
  id,
  now: new Date(0),
  metadata: { tenantId, actor: { type: 'user', id: 'ann' } },
});
const at = { tenantId: 'acme', id: 'a' };
const quick = { clock: { monotonicMs: () => 0, sleep: async () => {} } };

describe('a command', () => {
  it('is decided on the state that its stream folds to', async () => {
    const { decideOn, load } = streams(inMemoryEventStore('identity'));
    await decideOn(counter, 'a', command('1'), () => accept(counted(2), counted(3)));
    const decided = await decideOn(counter, 'a', command('2'), (count) => accept(counted(count)));
    expect(decided).toMatchObject({ accepted: true, state: 10, revision: 3, position: 3n });
    expect(await load(counter, at)).toEqual({ state: 10, revision: 3 });
  });

  it('that is refused may leave events behind all the same', async () => {
    const { decideOn } = streams(inMemoryEventStore('identity'));
    expect(
      await decideOn(counter, 'a', command('1'), () => refuse('no', counted(1))),
    ).toMatchObject({ accepted: false, reason: 'no', state: 1, position: 1n });
    expect(await decideOn(counter, 'a', command('2'), () => refuse('no'))).toMatchObject({
      revision: 1,
      position: undefined,
    });
  });

  it('leaves what was last seen of a stream, and whose it is', async () => {
    const { decideOn, lastSeen } = streams(inMemoryEventStore('identity'));
    expect(lastSeen(counter, 'a')).toBeUndefined();
    await decideOn(counter, 'a', command('1'), () => accept(counted(2)));
    const { tenantId } = command('1').metadata;
    expect(lastSeen(counter, 'a')).toEqual({ state: 2, revision: 1, tenantId });
  });

  it('that comes twice appends once and gets the decision of then with the state of now', async () => {
    const open = (count: number) => (count === 0 ? accept(counted(1), counted(7)) : refuse('open'));
    for (const [stream, state] of [
      [counter, 17],
      [gauge, 9],
    ] as const) {
      const { decideOn, history } = streams(inMemoryEventStore('identity'));
      await decideOn(stream, 'a', command('1'), open);
      await decideOn(stream, 'a', command('2'), () => accept(counted(9)));
      // A state-carrying stream recognizes a repeat by its append, since its older events are not loaded.
      const twice = stream === gauge ? () => open(0) : open;
      const again = await decideOn(stream, 'a', command('1'), twice);
      expect(again).toMatchObject({ accepted: true, repeated: true, revision: 3, position: 2n });
      expect(again).toMatchObject({ events: [counted(1), counted(7)], state });
      expect(await history(stream, at)).toHaveLength(3);
    }
  });

  it('under an id that made other events is a bug that shows', async () => {
    const { decideOn } = streams(inMemoryEventStore('identity'));
    await decideOn(counter, 'a', command('1'), one);
    await expect(
      decideOn(counter, 'a', command('1'), () => accept(counted(1), counted(1))),
    ).rejects.toThrow('needs an id of its own');
  });

  it('takes turns with the others on its stream', async () => {
    const { decideOn } = streams(inMemoryEventStore('identity'));
    const decided = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        decideOn(counter, 'a', command(String(index)), (count) =>
          count === 0 ? one() : refuse('taken'),
        ),
      ),
    );
    expect(decided.filter((each) => each.accepted)).toHaveLength(1);
  });

  it('is decided again when another process wrote first, three times at most', async () => {
    const logs = inMemoryLogs();
    const rival = streams(inMemoryEventStore('identity', logs));
    for (const [conflicts, wins] of [
      [2, true],
      [3, false],
    ] as const) {
      let left: number = conflicts;
      const store = inMemoryEventStore('identity', logs);
      const ours = streams(
        {
          ...store,
          append: async (appends) => {
            if (left-- > 0)
              await rival.decideOn(counter, 'a', command(`r${conflicts}${left}`), one);
            return store.append(appends);
          },
        },
        quick,
      );
      const deciding = ours.decideOn(counter, 'a', command(`mine${conflicts}`), one);
      if (wins) expect(await deciding).toMatchObject({ accepted: true, state: 3, revision: 3 });
      else await expect(deciding).rejects.toThrow('writers meet');
    }
  });

  it('whose answer was lost is not carried out twice', async () => {
    const { store, lose } = losing();
    const { decideOn } = streams(store, quick);
    lose(1);
    expect(await decideOn(counter, 'a', command('1'), one)).toMatchObject({
      state: 1,
      position: 1n,
    });
    expect(await store.head('identity')).toBe(1n);
  });
});

describe('many commands at once', () => {
  const many = (
    ids: readonly string[],
    decide = (count: number) => (count < 2 ? one() : refuse('full')),
  ) => ids.map((id) => ({ id, command: command(`for-${id}`), decide }));

  it('are appended in one batch, each decided on its own stream', async () => {
    const store = inMemoryEventStore('identity');
    const batches: number[] = [];
    const append: EventStore['append'] = (appends) => {
      batches.push(appends.length);
      return store.append(appends);
    };
    const { decideOn, decideOnMany } = streams({ ...store, append });
    await decideOn(counter, 'b', command('1'), () => accept(counted(2)));
    batches.length = 0;
    const decided = await decideOnMany(counter, many(['a', 'b', 'c']));
    expect(decided).toMatchObject([
      { accepted: true, state: 1, position: 2n },
      { accepted: false, reason: 'full', position: undefined },
      { accepted: true, state: 1, position: 3n },
    ]);
    expect(batches).toEqual([2]);
  });

  it('meet other writers each for itself', async () => {
    const logs = inMemoryLogs();
    const rival = streams(inMemoryEventStore('identity', logs));
    const store = inMemoryEventStore('identity', logs);
    let met = false;
    const append: EventStore['append'] = async (appends) => {
      if (!met) await rival.decideOn(counter, 'b', command('rival'), () => accept(counted(2)));
      met = true;
      return store.append(appends);
    };
    const { decideOnMany } = streams({ ...store, append }, quick);
    const decided = await decideOnMany(counter, many(['a', 'b']));
    expect(decided).toMatchObject([{ accepted: true }, { accepted: false, reason: 'full' }]);
    expect(await store.readStream('counter-b')).toHaveLength(1);
  });

  it('that come again append nothing', async () => {
    const store = inMemoryEventStore('identity');
    const { decideOnMany } = streams(store);
    await decideOnMany(counter, many(['a', 'b']));
    const again = await decideOnMany(counter, many(['b', 'a', 'c']));
    expect(again.map(({ repeated }) => repeated)).toEqual([true, true, false]);
    expect(await store.head('identity')).toBe(3n);
  });
});

it('a store that stays away fails the command after three tries', async () => {
  let tries = 0;
  const append = async () => {
    tries++;
    throw new EventStoreUnavailable('gone');
  };
  const { decideOn } = streams({ ...inMemoryEventStore('identity'), append }, quick);
  await expect(decideOn(counter, 'a', command('1'), one)).rejects.toThrow(EventStoreUnavailable);
  expect(tries).toBe(3);
});

describe('a stream', () => {
  it('of another tenant is an unknown one', async () => {
    const { decideOn, load, history } = streams(inMemoryEventStore('identity'), quick);
    await decideOn(counter, 'a', command('1'), one);
    const foreign = { tenantId: 'other', id: 'a' };
    expect(await load(counter, foreign)).toEqual({ state: 0, revision: 0 });
    expect(await history(counter, foreign)).toEqual([]);
    await expect(decideOn(counter, 'a', command('2', 'other'), one)).rejects.toThrow();
    expect((await load(counter, at)).state).toBe(1);
  });

  it('that carries its state is folded from its last event alone', async () => {
    const store = inMemoryEventStore('identity');
    const { decideOn, load } = streams({ ...store, readStream: () => Promise.reject(new Error()) });
    await decideOn(gauge, 'a', command('1'), () => accept(counted(4)));
    await decideOn(gauge, 'a', command('2'), (level) => accept(counted(level + 1)));
    expect(await load(gauge, at)).toEqual({ state: 5, revision: 2 });
  });

  it('F4 reads old events in the words of the newest version', async () => {
    const store = inMemoryEventStore('identity');
    await streams(store).decideOn(counter, 'a', command('1'), one);
    const today: typeof counter = {
      ...counter,
      upcasters: { Counted: [({ by }) => ({ by: Number(by) * 100 })] },
    };
    const { decideOn, history } = streams(upcasting(store, [today]));
    expect(await decideOn(today, 'a', command('2'), one)).toMatchObject({ state: 101 });
    const events = await history(today, at);
    expect(events.map((event) => [event.recordedVersion, event.schemaVersion, event.data])).toEqual(
      [
        [1, 2, { by: 100 }],
        [undefined, 2, { by: 1 }],
      ],
    );
  });

  it('goes to a registered stream or nowhere', async () => {
    const { decideOn } = streams(upcasting(inMemoryEventStore('identity'), [counter]));
    await expect(decideOn(gauge, 'a', command('1'), one)).rejects.toThrow('no stream for gauge-a');
  });
});

it('a stream lets only so many commands wait', async () => {
  const inTurn = turns(1);
  let finish = () => {};
  const first = inTurn('a', () => new Promise<void>((resolve) => (finish = resolve)));
  const second = inTurn('a', async () => 'second');
  await expect(inTurn('a', async () => {})).rejects.toThrow('too many');
  expect(await inTurn('b', async () => 'elsewhere')).toBe('elsewhere');
  finish();
  await first;
  expect(await second).toBe('second');
});

/** A store that appends and then loses the response, a given number of times. */
function losing() {
  const inner = inMemoryEventStore('identity');
  let left = 0;
  const store: EventStore = {
    ...inner,
    append: async (appends) => {
      const outcomes = await inner.append(appends);
      if (left-- > 0) throw new EventStoreUnavailable('the answer was lost');
      return outcomes;
    },
  };
  return { store, lose: (times: number) => (left = times) };
}
