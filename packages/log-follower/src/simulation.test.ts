/**
 * Each call that a follower makes throws once, in turn, or always throws for one stream. Every other stream takes
 * effect completely and in order, and so does that one, unless it was parked.
 */
import type { EventStore, NewEvent, RecordedEvent } from '@cardea/event-store';
import { type Clock, systemClock } from '@cardea/runtime';
import { inMemoryEventStore, inMemoryLogs, silentLogger, untilTrue } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { Fenced } from './checkpoints/checkpoint.ts';
import { followedIndex } from './followed-index.ts';
import { LogFollower } from './follower.ts';
import { openLogReader } from './log-reader.ts';
import type { Sink } from './sink.ts';

const LOG = 'vault' as const;
const STREAMS = ['thing-1', 'thing-2', 'thing-3'];
const POISON = 'thing-2';
const ROUNDS = 4;
const CALLS_MAX = 60;

/** Pauses take no time, so that a series of failures ends soon. */
const hurried: Clock = {
  ...systemClock,
  sleep: (_ms, signal) => systemClock.sleep(0, signal),
  after: (ms, work) => systemClock.after(Math.min(ms, 2), work),
};
const watch = { tick: () => {}, degraded: () => {} };

const counted = (): NewEvent => ({
  id: crypto.randomUUID(),
  type: 'Counted',
  schemaVersion: 1,
  time: new Date(0),
  data: {},
  metadata: { tenantId: 'acme', actor: { type: 'system', id: 'test' } },
});

const appendRounds = async (store: EventStore): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const streamId of STREAMS) {
      await store.append([{ streamId, expected: 'any', events: [counted()] }]);
    }
  }
};

/** Throws at this call or, from then on, whenever the call's events include those of one stream. */
type Fault = { readonly atCall: number; readonly forStream?: string };

function faultOf({ atCall, forStream }: Fault) {
  let calls = 0;
  return {
    calls: () => calls,
    check: (events: readonly RecordedEvent[] = []): void => {
      calls += 1;
      const isIt =
        forStream === undefined
          ? calls === atCall
          : calls >= atCall && events.some(({ streamId }) => streamId === forStream);
      if (isIt) throw new TypeError('injected');
    },
  };
}

/** A table with one checkpoint and the effects, which survive a restart. */
const table = () => ({
  position: 0n,
  parked: new Map<string, bigint>(),
  applied: [] as { readonly streamId: string; readonly revision: number }[],
});
type Table = ReturnType<typeof table>;

function sinkOn(stored: Table, check: (events?: readonly RecordedEvent[]) => void): Sink<string> {
  return {
    load: async () => {
      check();
      return { position: stored.position, epoch: 0n, parked: new Map(stored.parked) };
    },
    prepare: async (events) => {
      check(events);
      return 'prepared';
    },
    apply: async ({ events, through }, checkpoint) => {
      check(events);
      check(events.filter(({ streamId }) => !checkpoint.parked.has(streamId)));
      if (checkpoint.position !== stored.position) throw new Fenced('elsewhere');
      stored.position = through;
      checkpoint.position = through;
      for (const { streamId, revision } of events) {
        if (!checkpoint.parked.has(streamId)) stored.applied.push({ streamId, revision });
      }
      check();
      return true;
    },
    setAside: async ({ streamId, position }, _error, checkpoint) => {
      check();
      if (checkpoint.position !== stored.position) throw new Fenced('elsewhere');
      if (!stored.parked.has(streamId)) stored.parked.set(streamId, position);
      stored.position = position;
      checkpoint.position = position;
    },
    moved: () => check(),
  };
}

const follow = async (store: EventStore, stored: Table, fault: ReturnType<typeof faultOf>) => {
  const faulty: EventStore = {
    ...store,
    followLog: async (...asked) => {
      fault.check();
      return await store.followLog(...asked);
    },
  };
  const reader = await openLogReader(faulty, LOG, { clock: hurried });
  const sink = sinkOn(stored, fault.check);
  const deps = { name: 'model', reader, clock: hurried, log: silentLogger, watch };
  const stop = new AbortController();
  const ended = new LogFollower(sink, { ...deps, idleWaitMs: 5 }).run(stop.signal);
  return async () => {
    stop.abort();
    await ended;
    await reader.close();
  };
};

const revisionsOf = (stored: Table, stream: string): readonly number[] =>
  stored.applied.filter(({ streamId }) => streamId === stream).map(({ revision }) => revision);
const all = (rounds: number) => Array.from({ length: rounds }, (_, index) => index + 1);

describe('C5 a follower', () => {
  it('goes on whichever call throws once, and parks one stream at most', async () => {
    let reached = 0;
    for (let atCall = 1; atCall <= CALLS_MAX; atCall += 1) {
      const logs = inMemoryLogs();
      const store = inMemoryEventStore(LOG, logs);
      const stored = table();
      const fault = faultOf({ atCall });
      await appendRounds(store);
      const stop = await follow(store, stored, fault);
      await appendRounds(store);
      const end = await store.head(LOG);
      await untilTrue(() => stored.position === end, { what: `call ${atCall}` });
      await stop();
      expect(stored.parked.size).toBeLessThanOrEqual(1);
      for (const stream of STREAMS) {
        const expected = all(2 * ROUNDS);
        const found = revisionsOf(stored, stream);
        if (stored.parked.has(stream)) expect(expected.slice(0, found.length)).toEqual(found);
        else expect(found).toEqual(expected);
      }
      if (fault.calls() >= atCall) reached = atCall;
    }
    expect(reached).toBeGreaterThan(5);
  });

  it('goes on though a stream makes every call throw that has its events, also after a restart', async () => {
    for (let atCall = 1; atCall <= 12; atCall += 1) {
      const store = inMemoryEventStore(LOG, inMemoryLogs());
      const stored = table();
      await appendRounds(store);
      for (let start = 1; start <= 2; start += 1) {
        const stop = await follow(store, stored, faultOf({ atCall, forStream: POISON }));
        await appendRounds(store);
        const end = await store.head(LOG);
        await untilTrue(() => stored.position === end, { what: `call ${atCall}, start ${start}` });
        await stop();
        const whole = all((1 + start) * ROUNDS);
        expect(revisionsOf(stored, 'thing-1')).toEqual(whole);
        expect(revisionsOf(stored, 'thing-3')).toEqual(whole);
      }
    }
  });

  it('parks the stream of an event that cannot be read, and reads all others', async () => {
    const store = inMemoryEventStore(LOG, inMemoryLogs());
    const stored = table();
    await appendRounds(store);
    const fault = new SyntaxError('no JSON');
    const faulty: EventStore = {
      ...store,
      followLog: async (...asked) =>
        (await store.followLog(...asked)).map((event) =>
          event.streamId === POISON && event.revision === 2 ? { ...event, fault } : event,
        ),
    };
    const stop = await follow(faulty, stored, faultOf({ atCall: 0 }));
    const end = await store.head(LOG);
    await untilTrue(() => stored.position === end);
    await stop();
    expect(revisionsOf(stored, POISON)).toEqual([1]);
    expect(revisionsOf(stored, 'thing-1')).toEqual(all(ROUNDS));
    expect([...stored.parked.keys()]).toEqual([POISON]);
  });

  it('that is an index takes each event of the other streams once', async () => {
    const store = inMemoryEventStore(LOG, inMemoryLogs());
    await appendRounds(store);
    const taken: string[] = [];
    const index = followedIndex({
      name: 'index',
      store,
      clock: hurried,
      log: silentLogger,
      start: async () => 0n,
      take: ({ streamId, revision }) => {
        if (streamId === POISON && revision === 2) throw new TypeError('cannot be taken');
        taken.push(`${streamId}/${revision}`);
      },
    });
    const stop = new AbortController();
    const running = index.run(stop.signal, watch);
    await appendRounds(store);
    const end = await store.head(LOG);
    await untilTrue(() => index.position === end);
    stop.abort();
    await running;
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken.filter((each) => each.startsWith(POISON))).toEqual([`${POISON}/1`]);
    expect(taken).toHaveLength(4 * ROUNDS + 1);
  });
});
