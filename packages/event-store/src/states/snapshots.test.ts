import { type InMemoryLogs, inMemoryEventStore, inMemoryLogs } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import type { Command } from '../command.ts';
import type { Stream, StreamRead } from '../event-store.ts';
import { accept, refuse } from '../event-store.ts';
import { streams } from '../streams.ts';

type Counted = { type: 'Counted'; data: { by: number } };
const counter: Stream<number, Counted> = {
  noun: 'counter',
  initial: 0,
  evolve: (count, event) => count + event.data.by,
};
const counted = (by: number): Counted => ({ type: 'Counted', data: { by } });
const one = () => accept(counted(1));
const command = (id: string, tenantId = 'acme'): Command => ({
  id,
  now: new Date(0),
  metadata: { tenantId, actor: { type: 'user', id: 'ann' } },
});
const at = { tenantId: 'acme', id: 'a' };

/** The commands of one replica, with the events that it has read and appended since the last call. */
function replica(logs: InMemoryLogs = inMemoryLogs()) {
  const inner = inMemoryEventStore('identity', logs);
  let reads: StreamRead[] = [];
  let appends = 0;
  const commands = streams(
    {
      ...inner,
      readStreams: async (asked) => {
        reads.push(...asked);
        return await inner.readStreams(asked);
      },
      append: async (asked) => {
        appends += asked.length;
        return await inner.append(asked);
      },
    },
    { clock: { monotonicMs: () => 0, sleep: async () => {} } },
  );
  const trips = () => {
    const taken = { reads: reads.map(({ from }) => from), appends };
    reads = [];
    appends = 0;
    return taken;
  };
  return { ...commands, trips };
}

describe('a decision on a cached state', () => {
  it('is one append and no read', async () => {
    const { decideOn, trips } = replica();
    await decideOn(counter, 'a', command('1'), one);
    expect(trips()).toEqual({ reads: ['tail'], appends: 1 });
    const decided = await decideOn(counter, 'a', command('2'), (count) => accept(counted(count)));
    expect(decided).toMatchObject({ state: 2, revision: 2 });
    expect(trips()).toEqual({ reads: [], appends: 1 });
  });

  it('that another replica has changed is made again on what was read', async () => {
    const logs = inMemoryLogs();
    const [ours, theirs] = [replica(logs), replica(logs)];
    await ours.decideOn(counter, 'a', command('1'), one);
    await theirs.decideOn(counter, 'a', command('2'), () => accept(counted(4)));
    ours.trips();
    const decided = await ours.decideOn(counter, 'a', command('3'), (n) => accept(counted(n)));
    expect(decided).toMatchObject({ state: 10, revision: 3 });
    expect(ours.trips()).toEqual({ reads: ['tail'], appends: 2 });
  });

  it('that appends nothing is made again on what was read', async () => {
    const logs = inMemoryLogs();
    const [ours, theirs] = [replica(logs), replica(logs)];
    const full = (count: number) => (count < 2 ? refuse('early') : accept<Counted>());
    await ours.decideOn(counter, 'a', command('1'), one);
    await theirs.decideOn(counter, 'a', command('2'), one);
    expect(await ours.decideOn(counter, 'a', command('3'), full)).toMatchObject({
      accepted: true,
      revision: 2,
    });
    const foreign = await ours.decideOn(counter, 'a', command('4', 'other'), full);
    expect(foreign).toMatchObject({ reason: 'early', revision: 0 });
  });

  it('meets a command that was carried out before, whatever it would append now', async () => {
    const { decideOn, decideOnMany } = replica();
    const double = (count: number) =>
      count === 0 ? one() : accept(counted(count), counted(count + 1));
    await decideOn(counter, 'a', command('1'), double);
    await decideOn(counter, 'a', command('2'), one);
    const earlier = { repeated: true, events: [counted(1)], state: 2, position: 1n };
    expect(await decideOn(counter, 'a', command('1'), double)).toMatchObject(earlier);
    const again = await decideOnMany(counter, [
      { id: 'b', command: command('3'), decide: one },
      { id: 'a', command: command('1'), decide: double },
    ]);
    expect(again).toMatchObject([{ state: 1 }, earlier]);
  });
});

describe('a stream that is said to be new', () => {
  it('is appended to unread', async () => {
    const { decideOn, decideOnMany, trips } = replica();
    await decideOn(counter, 'a', command('1'), { isNew: true, decide: one });
    await decideOnMany(counter, [
      { id: 'b', command: command('2'), decide: one, isNew: true },
      { id: 'c', command: command('3'), decide: one, isNew: true },
    ]);
    expect(trips()).toEqual({ reads: [], appends: 3 });
  });

  it('is read after all when it exists, or nothing would be appended', async () => {
    const logs = inMemoryLogs();
    await replica(logs).decideOn(counter, 'a', command('1'), one);
    const { decideOn, trips } = replica(logs);
    const first = (count: number) => (count === 0 ? one() : refuse('exists'));
    expect(
      await decideOn(counter, 'a', command('2'), { isNew: true, decide: first }),
    ).toMatchObject({ reason: 'exists', state: 1 });
    expect(trips()).toEqual({ reads: ['tail'], appends: 1 });
    const never = () => refuse('never');
    expect(
      await decideOn(counter, 'b', command('3'), { isNew: true, decide: never }),
    ).toMatchObject({ revision: 0 });
    expect(trips()).toEqual({ reads: ['tail'], appends: 0 });
  });
});

describe('a decision that rests on other streams', () => {
  const rule = {
    restsOn: { one: { stream: counter, id: 'b' }, two: { stream: counter, id: 'c' } },
    decide: (count: number, { one, two }: { one: number; two: number }) =>
      one + two > 5 ? refuse('full') : accept(counted(10 * count + one + two)),
  };

  it('reads them in the same trip, then takes them from the cache', async () => {
    const { decideOn, decideOnBasis, trips } = replica();
    await decideOn(counter, 'b', command('1'), one);
    trips();
    const first = await decideOnBasis(counter, 'a', command('2'), rule);
    expect(first).toMatchObject({ state: 1, revision: 1 });
    expect(trips()).toEqual({ reads: ['tail', 'tail'], appends: 1 });
    const again = await decideOnBasis(counter, 'd', command('3'), { ...rule, isNew: true });
    expect(again).toMatchObject({ state: 1, revision: 1 });
    // A stream that does not exist is not cached.
    expect(trips()).toEqual({ reads: ['tail'], appends: 1 });
  });

  it('is made again when another replica has changed one of them', async () => {
    const logs = inMemoryLogs();
    const [ours, theirs] = [replica(logs), replica(logs)];
    await ours.decideOn(counter, 'b', command('1'), one);
    await ours.decideOn(counter, 'c', command('2'), one);
    await theirs.decideOn(counter, 'c', command('3'), () => accept(counted(2)));
    ours.trips();
    const decided = await ours.decideOnBasis(counter, 'a', command('4'), { ...rule, isNew: true });
    expect(decided).toMatchObject({ accepted: true, state: 4, revision: 1 });
    expect(ours.trips()).toEqual({ reads: ['tail', 'tail', 'tail'], appends: 2 });
    await theirs.decideOn(counter, 'b', command('5'), () => accept(counted(9)));
    expect(await ours.decideOnBasis(counter, 'a', command('6'), rule)).toMatchObject({
      reason: 'full',
      revision: 1,
    });
  });

  it('takes those of another tenant for absent', async () => {
    const { decideOn, decideOnBasis } = replica();
    await decideOn(counter, 'b', command('1', 'other'), () => accept(counted(9)));
    for (const id of ['2', '3']) {
      expect(await decideOnBasis(counter, id, command(id), rule)).toMatchObject({ state: 0 });
    }
  });
});

it('a load reads what came after the cached state', async () => {
  const logs = inMemoryLogs();
  const [ours, theirs] = [replica(logs), replica(logs)];
  await ours.decideOn(counter, 'a', command('1'), () => accept(counted(1), counted(2)));
  await theirs.decideOn(counter, 'a', command('2'), () => accept(counted(4)));
  ours.trips();
  expect(await ours.load(counter, at)).toEqual({ state: 7, revision: 3 });
  expect(await ours.find(counter, 'a')).toEqual({ state: 7, revision: 3, tenantId: 'acme' });
  expect(await ours.load(counter, { ...at, tenantId: 'other' })).toEqual({ state: 0, revision: 0 });
  expect(await ours.find(counter, 'b')).toBeUndefined();
  expect(ours.trips()).toEqual({ reads: [3, 4, 4, 'tail'], appends: 0 });
});

it('a state is not taken for that of another definition of the stream', async () => {
  const { decideOn, load } = replica();
  const names: Stream<readonly string[], Counted> = {
    noun: 'counter',
    initial: [],
    evolve: (all, event) => [...all, event.type],
  };
  await decideOn(counter, 'a', command('1'), one);
  expect(await load(names, at)).toEqual({ state: ['Counted'], revision: 1 });
  expect(await load(counter, at)).toEqual({ state: 1, revision: 1 });
});
