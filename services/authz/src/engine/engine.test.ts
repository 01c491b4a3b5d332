import { fakeClock } from '@cardea/runtime';
import { expect, it } from 'vitest';
import { type Engine, engineOf } from './engine.ts';
import type { Follower } from './follower.ts';
import { TenantIndexes } from './tenant-indexes.ts';
import { newTupleIndex } from './tuple-index.ts';

const held = {
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: 'd',
} as const;
const of = { tenantId: 't', atLeast: undefined };
const table = { check: async () => ({ unanswered: 'overloaded' }) } as unknown as Engine;

/** An index that is at the end of its log. */
function fixture() {
  const clock = fakeClock('2026-01-01T00:00:00Z');
  const fresh = { is: true };
  const tenants = new TenantIndexes({
    changeOf: () => ({ kind: 'nothing' }),
    sizeOf: async () => ({ tuples: 1, hasModel: false }),
    load: async () => {
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
  return { fresh, engine: engineOf({ follower, tenants, clock, isFresh: () => fresh.is }, table) };
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
