/** Events from before vouching was said are read by what was known then. */
import { type RecordedEvent, upcastTo } from '@cardea/event-store';
import { expect, it } from 'vitest';
import { exists, isActiveAdmin, isDemotion, type UserEvent, users } from './user.ts';

const old = (type: string, data: object, actor = 'user') =>
  ({
    type,
    data,
    schemaVersion: 1,
    metadata: { actor: { type: actor } },
  }) as unknown as RecordedEvent;
const registered = (via: string, roles: readonly string[] = ['member']) =>
  old('UserRegistered', { id: 'ann', roles, via, created_at: '2026-01-01T00:00:00Z' });
const rolesBy = (actor: string) =>
  old('RolesChanged', { id: 'ann', roles: ['member', 'billing'], at: 'later' }, actor);

const vouchedBy = (...events: readonly RecordedEvent[]): boolean | undefined => {
  const user = events
    .map((event) => upcastTo(users, event) as unknown as UserEvent)
    .reduce(users.evolve, users.initial);
  return exists(user) ? user.vouched : undefined;
};

it.each([
  ['signup', true],
  ['bootstrap', true],
  ['admin', true],
  ['import', true],
  ['invitation', true],
  ['register', false],
  ['social', false],
])('a person of before who came by %s is vouched for: %s', (via, is) => {
  expect(vouchedBy(registered(via))).toBe(is);
});

it('a person of before is vouched for by a role that an administrator gave, not by one of a key', () => {
  expect(vouchedBy(registered('register'), rolesBy('admin'))).toBe(true);
  expect(vouchedBy(registered('register'), rolesBy('system'))).toBe(false);
  const withdrawn = old('VouchWithdrawn', { id: 'ann', at: 'later' });
  expect(vouchedBy(registered('admin'), withdrawn)).toBe(false);
});

it('events of today say it themselves', () => {
  const today = { ...registered('admin'), schemaVersion: 2 };
  const unvouched = { ...today, data: { ...today.data, vouched: false } };
  expect(vouchedBy(unvouched)).toBe(false);
  expect(vouchedBy(unvouched, { ...rolesBy('admin'), schemaVersion: 2 })).toBe(false);
});

it('a role above a member’s is what a demotion takes, whatever else is left', () => {
  expect(isDemotion(['owner', 'admin'], ['owner'])).toBe(true);
  expect(isDemotion(['member', 'admin'], ['admin'])).toBe(false);
  expect(isDemotion(['member', 'billing'], ['member'])).toBe(false);
  expect(isActiveAdmin(users.initial)).toBe(false);
});
