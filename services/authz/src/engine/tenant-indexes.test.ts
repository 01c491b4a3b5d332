import type { RecordedEvent } from '@cardea/event-store';
import { NotCaughtUp } from '@cardea/log-follower';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../relations/relation.ts';
import { type Change, type LoadedTuples, TenantIndexes } from './tenant-indexes.ts';
import { finished, newTupleIndex } from './tuple-index.ts';

type Step = 'write' | 'delete' | 'poison' | 'follow' | 'project' | 'ask' | 'forget';

/** A log of one tenant, a table and a follower that lag, and the indexes that depend on them. */
function world() {
  const log: { change: Change; event: RecordedEvent }[] = [];
  let followed = 0;
  let projected = 0;
  const indexes = new TenantIndexes({
    changeOf: (event) => log[Number(event.position) - 1]?.change ?? { kind: 'nothing' },
    sizeOf: async () => ({ tuples: log.length, hasModel: false }),
    load: async (_tenant, atLeast) => {
      if (BigInt(projected) < atLeast) projected = Number(atLeast); // The loader waits for the table.
      const read = table();
      await turns(); // A table is read over many turns of the event loop, while events are appended.
      return read;
    },
    eventsBetween: async function* (after, through) {
      for (const { event } of log.slice(Number(after), Number(through))) {
        await turns();
        yield event;
      }
    },
    position: () => BigInt(followed),
    monotonicMs: () => 0,
    bytesMax: Number.POSITIVE_INFINITY,
  });

  const table = (): LoadedTuples => ({ ...expected(projected), position: BigInt(projected) });
  const expected = (through: number) => {
    const index = newTupleIndex();
    const parked = new Set<string>();
    for (const { change, event } of log.slice(0, through)) {
      if (parked.has(event.streamId)) continue;
      if (change.kind === 'write') index.write(change.tuple);
      if (change.kind === 'delete') index.delete(change.tuple);
      if (change.kind !== 'unreadable') continue;
      parked.add(event.streamId);
      index.delete(tuple(event.streamId));
    }
    return { index, parked };
  };
  const append = (kind: 'write' | 'delete' | 'poison', name: string) => {
    const change: Change =
      kind === 'poison' ? { kind: 'unreadable' } : { kind, tuple: tuple(name) };
    const position = BigInt(log.length + 1);
    const metadata = { tenantId: 't', actor: { type: 'system', id: 'test' } };
    log.push({ change, event: { position, streamId: name, metadata } as RecordedEvent });
  };
  const follow = () => {
    const next = log.slice(followed, followed + 2);
    indexes.apply(next.map(({ event }) => event));
    followed += next.length;
  };
  return {
    indexes,
    append,
    follow,
    project: () => {
      projected = Math.min(projected + 3, log.length);
    },
    /**
     * The states that a correct answer may reflect now: the log up to the follower's position, or up to the table's if
     * that is further.
     */
    allowed: () => {
      const states: string[] = [];
      for (let at = followed; at <= Math.max(followed, projected); at++) {
        states.push(idsIn(expected(at).index));
      }
      return states;
    },
  };
}

const tuple = (name: string): Fields => ({
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: name,
});
const { object_id: _, ...question } = tuple('');
const idsIn = (index: LoadedTuples['index']) => finished(index.listObjects(question)).join();
const turns = async () => {
  for (let turn = 0; turn < 3; turn++) await Promise.resolve();
};

describe('the index of a tenant', () => {
  it('authz 16 equals the log, however its loading falls between events and other changes', async () => {
    const steps = fc.array(
      fc.tuple(
        fc.constantFrom<Step>(
          'write',
          'write',
          'delete',
          'poison',
          'follow',
          'project',
          'ask',
          'forget',
        ),
        fc.constantFrom('a', 'b', 'c', 'd'),
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { indexes, append, follow, project, allowed } = world();
        const asked: Promise<unknown>[] = [];
        for (const [step, name] of all) {
          if (step === 'follow') follow();
          else if (step === 'project') project();
          else if (step === 'forget') indexes.forgetAll();
          else if (step === 'ask') {
            asked.push(
              indexes.get('t').then(
                () => {
                  // A waiting request looks the index up again, because it may have been evicted in between.
                  const index = indexes.loaded('t')?.index;
                  if (index !== undefined) expect(allowed()).toContain(idsIn(index));
                },
                (error) => expect(error).toBeInstanceOf(NotCaughtUp),
              ),
            );
          } else append(step, name);
          await turns();
        }
        await Promise.all(asked);
        for (let round = 0; round < all.length; round++) follow();
        const entry = await indexes.get('t');
        expect(allowed()).toEqual([entry && idsIn(entry.index)]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('goes when others need the memory, the least recently used first, but none in use', async () => {
    let nowMs = 0;
    const loads: string[] = [];
    const room = 3 * 8 * 1024;
    const indexes = new TenantIndexes({
      changeOf: () => ({ kind: 'nothing' }),
      sizeOf: async () => ({ tuples: 0, hasModel: false }),
      load: async (tenantId) => {
        loads.push(tenantId);
        return { index: newTupleIndex(), position: 0n, parked: new Set() };
      },
      eventsBetween: async function* () {},
      position: () => 0n,
      monotonicMs: () => nowMs,
      bytesMax: room,
    });
    for (const tenant of ['a', 'b', 'c']) await indexes.get(tenant);
    nowMs = 60_000;
    for (const tenant of ['a', 'd', 'a', 'b']) await indexes.get(tenant);
    expect(loads).toEqual(['a', 'b', 'c', 'd', 'b']);
    for (const tenant of ['e', 'f', 'g']) expect(await indexes.get(tenant)).toBeUndefined();
    for (const tenant of ['a', 'd', 'b']) expect(indexes.loaded(tenant)).toBeDefined();
    expect(loads).toHaveLength(5);
  });

  it('authz 17 is not loaded where it is larger than all memory, and goes when it grows so', async () => {
    let nowMs = 0;
    let count = 0;
    const indexes = new TenantIndexes({
      changeOf: ({ streamId }) => ({ kind: 'write', tuple: tuple(streamId) }),
      sizeOf: async () => ({ tuples: count, hasModel: false }),
      load: async () => ({ index: newTupleIndex(), position: 0n, parked: new Set() }),
      eventsBetween: async function* () {},
      position: () => 0n,
      monotonicMs: () => nowMs,
      bytesMax: 8 * 1024 + 10 * 140,
    });
    count = 11;
    expect(await indexes.get('t')).toBeUndefined();
    count = 10;
    expect(await indexes.get('t')).toBeDefined();
    const metadata = { tenantId: 't', actor: { type: 'system', id: 'test' } };
    for (let at = 1; at <= 11; at++) {
      nowMs += 1_000;
      const event = { position: BigInt(at), streamId: `d${at}`, metadata } as RecordedEvent;
      indexes.apply([event]);
      expect(indexes.loaded('t') === undefined).toBe(at === 11);
    }
  });

  it('is loaded meanwhile where that takes long, and nobody waits', async () => {
    const read = Promise.withResolvers<void>();
    const indexes = new TenantIndexes({
      changeOf: () => ({ kind: 'nothing' }),
      sizeOf: async () => ({ tuples: 10_001, hasModel: false }),
      load: async () => {
        await read.promise;
        return { index: newTupleIndex(), position: 0n, parked: new Set() };
      },
      eventsBetween: async function* () {},
      position: () => 0n,
      monotonicMs: () => 0,
      bytesMax: Number.POSITIVE_INFINITY,
    });
    expect(await indexes.get('t')).toBeUndefined();
    expect(await indexes.get('t')).toBeUndefined();
    read.resolve();
    await turns();
    await turns();
    expect(indexes.loaded('t')).toBeDefined();
  });
});
