import type { NewEvent } from '@cardea/event-store';
import type { Leases } from '@cardea/runtime';
import { fakeClock, type Logger, Outage } from '@cardea/runtime';
import { inMemoryEventStore } from '@cardea/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Checkpoint, Fenced } from './checkpoints/checkpoint.ts';
import { idleCheckpoints } from './checkpoints/idle-checkpoints.ts';
import { LogFollower } from './follower.ts';
import { openLogReader } from './log-reader.ts';
import type { Sink } from './sink.ts';

const LOG = 'vault' as const;
const IDLE_STORE_MS = 25;
const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => quiet,
};

const event = (type: string, time: Date): NewEvent => ({
  id: crypto.randomUUID(),
  type,
  schemaVersion: 1,
  time,
  data: {},
  metadata: { tenantId: 'acme', actor: { type: 'system', id: 'test' } },
});

/** A log, a sink that records its calls, and a table with one checkpoint. */
function world() {
  const clock = fakeClock('2031-05-04T03:02:01Z');
  const store = inMemoryEventStore(LOG);
  const stop = new AbortController();
  const stored = { position: 0n, epoch: 0n };
  const parked = new Map<string, bigint>();
  const applied: bigint[] = [];
  let turns = 0;
  const told: bigint[] = [];
  const degraded: (string | undefined)[] = [];
  let failure: (() => Error | undefined) | undefined;
  let notify: (payload: string | undefined) => void = () => {};

  const move = (checkpoint: Checkpoint, to: bigint): void => {
    if (checkpoint.position !== stored.position || checkpoint.epoch !== stored.epoch) {
      throw new Fenced('elsewhere');
    }
    stored.position = to;
    checkpoint.position = to;
  };
  const idle = idleCheckpoints({
    clock,
    delayMs: () => IDLE_STORE_MS,
    store: async (moves) => {
      for (const { checkpoint, to } of moves.values()) move({ ...checkpoint }, to);
      return new Set(moves.keys());
    },
  });
  const sink: Sink = {
    load: async () => ({ ...stored, parked: new Map(parked) }),
    types: new Set(['Foreign', 'Made']),
    apply: async ({ events, through }, checkpoint) => {
      if (events.every(({ type }) => type === 'Foreign')) return false;
      const error = failure?.();
      if (error !== undefined) throw error;
      move(checkpoint, through);
      applied.push(...events.map(({ position }) => position));
      return true;
    },
    setAside: async ({ streamId, position }, _error, checkpoint) => {
      parked.set(streamId, position);
      move(checkpoint, position);
    },
    idle,
    moved: (position) => told.push(position),
  };
  const leases: Leases = {
    hold: async () => ({ lost: new AbortController().signal, release: async () => {} }),
    listen: (_channel, listener) => {
      notify = listener;
      return () => {};
    },
  };
  return {
    clock,
    store,
    stored,
    parked,
    applied,
    told,
    degraded,
    turns: () => turns,
    failWith: (next: typeof failure) => {
      failure = next;
    },
    notify: (payload: string) => notify(payload),
    append: (...types: string[]) =>
      store.append([
        {
          streamId: 'thing-1',
          expected: 'any',
          events: types.map((type) => event(type, clock.now())),
        },
      ]),
    start: async () => {
      const reader = await openLogReader(store, LOG, { clock });
      const tick = () => {
        turns += 1;
      };
      const watch = { tick, degraded: (reason?: string) => void degraded.push(reason) };
      const lead = { leases, lease: 'one', parkedNotice: 'vault one' };
      const by = { name: 'one', reader, clock, log: quiet, watch, lead };
      const ended = new LogFollower(sink, by).run(stop.signal);
      return async () => {
        stop.abort();
        await clock.advance(0);
        await ended;
      };
    },
  };
}

describe('a follower of a log', () => {
  let things: ReturnType<typeof world>;
  let stop: () => Promise<void>;
  beforeEach(async () => {
    things = world();
    stop = await things.start();
    await things.clock.advance(0);
  });
  afterEach(() => stop());

  it('hands on each event once, and moves the checkpoint with it', async () => {
    await things.append('Made', 'Made');
    await things.clock.advance(0);
    await things.append('Made');
    await things.clock.advance(0);
    expect(things.applied).toEqual([1n, 2n, 3n]);
    expect(things.stored.position).toBe(3n);
  });

  it('tells at once of events that do not concern its sink, and stores that late', async () => {
    await things.append('Foreign', 'Foreign');
    await things.clock.advance(0);
    expect(things.told.at(-1)).toBe(2n);
    expect(things.stored.position).toBe(0n);
    await things.clock.advance(IDLE_STORE_MS);
    expect(things.stored.position).toBe(2n);
    expect(things.applied).toEqual([]);
  });

  it('tells of ignored events while it rests, without a turn for them', async () => {
    await things.append('Made');
    await things.clock.advance(0);
    const before = things.turns();
    await things.append('Ignored', 'Ignored');
    await things.clock.advance(0);
    await things.append('Ignored');
    await things.clock.advance(0);
    expect(things.turns()).toBe(before);
    expect(things.told.at(-1)).toBe(4n);
    await things.clock.advance(IDLE_STORE_MS);
    expect(things.stored.position).toBe(4n);
    await things.append('Ignored', 'Made');
    await things.clock.advance(0);
    expect(things.applied).toEqual([1n, 5n, 6n]);
  });

  it('takes what was appended while it was shown events that it ignores', async () => {
    await things.clock.advance(0);
    await Promise.all([things.append('Ignored'), things.append('Made')]);
    await things.clock.advance(0);
    expect(things.applied.at(-1)).toBe(2n);
    expect(things.stored.position).toBe(2n);
  });

  it('stores at its stop what it had only told of', async () => {
    await things.append('Foreign');
    await things.clock.advance(0);
    await stop();
    expect(things.stored.position).toBe(1n);
  });

  it('waits out an outage with a pause that grows, says so, and is well again', async () => {
    let tries = 0;
    things.failWith(() => {
      tries += 1;
      return new Outage('away');
    });
    await things.append('Made');
    await things.clock.advance(0);
    expect(things.degraded.at(-1)).toBe('cannot continue: Outage');
    await things.clock.advance(100 + 200 + 400);
    expect(tries).toBe(4);
    things.failWith(undefined);
    await things.clock.advance(800);
    expect(things.applied).toEqual([1n]);
    expect(things.degraded.at(-1)).toBeUndefined();
  });

  it('goes on from where another process has brought the checkpoint, and repeats nothing', async () => {
    await things.append('Made');
    await things.clock.advance(0);
    things.stored.position = 2n;
    await things.append('Made', 'Made');
    await things.clock.advance(0);
    expect(things.applied).toEqual([1n, 3n]);
  });

  it('counts as done what was stored, though the answer was lost', async () => {
    things.failWith(() => {
      things.stored.position = 1n;
      things.failWith(undefined);
      return new Outage('the answer was lost');
    });
    await things.append('Made');
    await things.clock.advance(0);
    await things.clock.advance(100);
    expect(things.applied).toEqual([]);
    expect(things.told.at(-1)).toBe(1n);
  });

  it('reads its checkpoint again when a parked stream was released elsewhere', async () => {
    things.parked.set('thing-9', 1n);
    things.notify('vault one');
    await things.clock.advance(0);
    expect(things.degraded.at(-1)).toBe('parked streams: 1');
    things.parked.clear();
    things.notify('vault another');
    await things.clock.advance(0);
    expect(things.degraded.at(-1)).toBe('parked streams: 1');
    things.notify('vault one');
    await things.clock.advance(0);
    expect(things.degraded.at(-1)).toBeUndefined();
  });
});
