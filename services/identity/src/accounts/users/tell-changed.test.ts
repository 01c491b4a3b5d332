import type { FactChange } from '@cardea/auth';
import { describe, expect, it } from 'vitest';
import { tellChanged } from './tell-changed.ts';
import type { UserEvent } from './user.ts';

async function toldOf(position: bigint | undefined, ...types: readonly string[]) {
  const told: FactChange[] = [];
  const revocations = { changed: async (change: FactChange) => void told.push(change) };
  const events = types.map((type) => ({ type: type as UserEvent['type'] }));
  const of = { tenantId: 't', userId: 'ann' };
  await tellChanged({ revocations }, of, { events, position });
  return told.map(({ kind, id, narrows }) => `${kind} ${id} ${narrows ? 'narrowed' : 'changed'}`);
}

describe('whoever keeps copies of users', () => {
  it.each([
    ['UserVouched', 'user ann changed'],
    ['UserEnabled', 'user ann changed'],
    ['VouchWithdrawn', 'user ann narrowed'],
    ['UserDisabled', 'user ann narrowed'],
    ['UserDeleted', 'user ann narrowed'],
  ])('is told of %s', async (type, told) => {
    expect(await toldOf(7n, 'ProfileChanged', type)).toEqual([told]);
  });

  it('is told once of what came together, and nothing of what changes no right to approve', async () => {
    expect(await toldOf(7n, 'UserEnabled', 'VouchWithdrawn')).toEqual(['user ann narrowed']);
    expect(await toldOf(7n, 'ProfileChanged', 'RolesChanged')).toEqual([]);
    expect(await toldOf(undefined)).toEqual([]);
  });
});
