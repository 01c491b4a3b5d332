import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { referenceSet } from '@cardea/testing';
import { expect, it } from 'vitest';
import { finished, newTupleIndex } from '../src/engine/tuple-index.ts';
import type { Fields } from '../src/relations/relation.ts';

const SMALLER = 10;
/** Enough to reach nearly every folder and group. */
const QUESTIONS = 20_000;
const BYTES_PER_TUPLE_MAX = 130;
const BYTES_PER_TENANT_MAX = 8 * 1024;
const TENANTS = 200;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** The bytes that remain allocated after `make`, and its result. */
function kept<T>(make: () => T): { readonly value: T; readonly bytes: number } {
  const before = used();
  const value = make();
  return { value, bytes: used() - before };
}

function used(): number {
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const grant = (user: number | string, object: number | string): Fields => ({
  user_type: 'user',
  user_id: `user-${user}`,
  relation: 'viewer',
  object_type: 'document',
  object_id: `document-${object}`,
});

it('authz 21 an index takes at most 130 bytes a tuple, with what its walks need', () => {
  const { value: index, bytes } = kept(() => {
    const index = newTupleIndex();
    const set = referenceSet(SMALLER);
    for (const tuple of set.tuples()) index.write(tuple);
    for (let at = 0; at < QUESTIONS; at++) finished(index.check(set.question(at)));
    const asked = set.question(0);
    expect(finished(index.check(asked)).allowed).toBe(true);
    expect(finished(index.filter(asked, [asked.object_id]))).toEqual([true]);
    return index;
  });
  expect(index.size).toBeGreaterThan(90_000);
  expect(bytes / index.size).toBeLessThan(BYTES_PER_TUPLE_MAX);
});

it('authz 21 an empty tenant takes at most 8 KiB', () => {
  const { value, bytes } = kept(() => Array.from({ length: TENANTS }, () => newTupleIndex()));
  expect(bytes / value.length).toBeLessThan(BYTES_PER_TENANT_MAX);
});

it('authz 21 a group of 200,000 members is emptied, which is linear as every member is found at once', () => {
  const index = newTupleIndex();
  const member = (user: number): Fields => ({ ...grant(user, 'g'), relation: 'member' });
  for (let user = 0; user < 200_000; user++) index.write(member(user));
  let left = 0;
  for (let user = 0; user < 200_000; user++) {
    index.delete(member(user));
    if (finished(index.allows(member(user)))) left++;
  }
  expect(left).toBe(0);
  expect(index.size).toBe(0);
});

it('authz 21 a million writes and deletes of fresh ids leave nothing behind', () => {
  const index = newTupleIndex();
  const turnOver = (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      index.write(grant(at, at % 7));
      if (at >= 1_000) index.delete(grant(at - 1_000, (at - 1_000) % 7));
    }
  };
  turnOver(0, 100_000);
  const { bytes } = kept(() => turnOver(100_000, 1_000_000));
  expect(index.size).toBe(1_000);
  expect(bytes).toBeLessThan(64 * 1024);
});

it('is worn once a quarter of a large index is gone, so that its owner reads it anew', () => {
  const index = newTupleIndex();
  for (let at = 0; at < 20_000; at++) index.write(grant(at, at));
  for (let at = 0; at < 4_900; at++) index.delete(grant(at, at));
  expect(index.isWorn).toBe(false);
  for (let at = 4_900; at < 5_200; at++) index.delete(grant(at, at));
  expect(index.isWorn).toBe(true);
});
