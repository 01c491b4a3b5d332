import { fakeClock } from '@cardea/runtime';
import { expect, it } from 'vitest';
import { evaluationsOf } from '../engine/evaluations.ts';
import { TenantIndexes } from '../engine/tenant-indexes.ts';
import { newTupleIndex } from '../engine/tuple-index.ts';
import { Work } from '../engine/work.ts';
import { type Engine, engineOf } from './engine.ts';
import type { Follower } from './follower.ts';

const held = {
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: 'd',
} as const;
const of = { tenantId: 't', atLeast: undefined, work: new Work('t') };
const table = { check: async () => ({ unanswered: 'overloaded' }) } as unknown as Engine;

/** An index that is at the end of its log after it was loaded. */
function fixture(given: { tuples?: number; loaded?: Promise<void>; table?: Engine } = {}) {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const fresh = { is: true };
  const tenants = new TenantIndexes({
    changeOf: () => ({ kind: 'nothing' }),
    sizeOf: async () => ({ tuples: given.tuples ?? 1, hasModel: false }),
    load: async () => {
      await given.loaded;
      const index = newTupleIndex();
      index.write(held);
      return { index, position: 7n, parked: new Set() };
    },
    eventsBetween: async function* () {},
    position: () => 7n,
    monotonicMs: () => clock.monotonicMs(),
    bytesMax: Number.POSITIVE_INFINITY,
  });
  const follower = { position: 7n, floor: () => 0n } as unknown as Follower;
  const needs = {
    follower,
    tenants,
    clock,
    evaluations: evaluationsOf(clock),
    isFresh: () => fresh.is,
  };
  return { fresh, engine: engineOf(needs, given.table ?? table) };
}

it('answers from a loaded index at once, without a promise', async () => {
  const { engine } = fixture();
  const value = { allowed: true, reason: 'user:ann viewer document:d' };
  const first = engine.check(of, held);
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toEqual({ value, position: 7n });
  expect(engine.check(of, held)).toEqual({ value, position: 7n });
  expect(engine.filter(of, { ...held, object_ids: ['d', 'e'] })).toEqual({
    value: [true, false],
    position: 7n,
  });
});

it('asks the table where the index is not fresh', async () => {
  const { engine, fresh } = fixture();
  await engine.check(of, held);
  fresh.is = false;
  expect(await engine.check(of, held)).toEqual({ unanswered: 'overloaded' });
});

it('asks the table four checks at a time while an index loads, and then the index', async () => {
  const loaded = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  let asked = 0;
  const slow = {
    check: async () => {
      asked += 1;
      await read.promise;
      return { value: { allowed: true, reason: 'from the table' }, position: 7n };
    },
  } as unknown as Engine;
  const { engine } = fixture({ tuples: 1_000_000, loaded: loaded.promise, table: slow });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const checks = Array.from({ length: 12 }, () => engine.check(of, held));
  await settle();
  expect(asked).toBe(4);
  loaded.resolve();
  await settle();
  read.resolve();
  const reasons = (await Promise.all(checks)).map((each) => 'value' in each && each.value.reason);
  expect(reasons.filter((reason) => reason === 'from the table')).toHaveLength(4);
  expect(reasons.filter((reason) => reason === 'user:ann viewer document:d')).toHaveLength(8);
  expect(asked).toBe(4);
});

it('answers from the index what was too large for the table while it was loaded', async () => {
  const loaded = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  const tooLarge = async () => {
    await read.promise;
    return { unanswered: 'evaluation_budget_exceeded' };
  };
  const small = { listObjects: tooLarge, check: tooLarge } as unknown as Engine;
  const { engine, fresh } = fixture({ tuples: 1_000_000, loaded: loaded.promise, table: small });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const lists = engine.listObjects(of, held);
  const checks = engine.check(of, held);
  await settle();
  loaded.resolve();
  await settle();
  read.resolve();
  expect(await lists).toEqual({ value: ['d'], position: 7n });
  expect(await checks).toMatchObject({ value: { allowed: true } });
  fresh.is = false;
  expect(await engine.listObjects(of, held)).toEqual({
    unanswered: 'evaluation_budget_exceeded',
  });
});
