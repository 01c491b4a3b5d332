import { describe, expect, it } from 'vitest';
import { rankOf, type User, type UserEvent, users } from '../user.ts';
import { type Administer, administer, deleteUser } from './administer.ts';

const now = new Date('2026-01-01T10:00:00Z');
const sealed = { subject: 'user:ann', box: 'box' };
const user = (roles: readonly string[], ...further: readonly UserEvent[]): User =>
  [
    {
      type: 'UserRegistered',
      data: {
        id: 'ann',
        email: sealed,
        email_hash: 'hash',
        email_verified: true,
        display_name: null,
        avatar_url: null,
        roles,
        via: 'admin',
        request_hash: null,
        created_at: now.toISOString(),
      },
    } as const,
    ...further,
  ].reduce(users.evolve, users.initial);
const byAdmin: Administer = { rank: rankOf(['admin']), isLastAdmin: false, now };

describe('administering an account', () => {
  it('raises the epoch when it closes the account, so that its sessions end', () => {
    const decision = administer({ ...byAdmin, status: 'disabled' }, user(['member']));
    expect(decision.events).toMatchObject([{ type: 'UserDisabled', data: { epoch: 1 } }]);
    const closed = decision.events.reduce(users.evolve, user(['member']));
    expect(administer({ ...byAdmin, status: 'disabled' }, closed).events).toEqual([]);
    expect(administer({ ...byAdmin, status: 'active' }, closed).events).toMatchObject([
      { type: 'UserEnabled' },
    ]);
  });

  it.each([
    { name: 'a role above the own', roles: ['owner'], of: ['member'] },
    { name: 'anything to somebody above', roles: ['member'], of: ['owner', 'admin'] },
  ])('gives nobody $name', ({ roles, of }) => {
    expect(administer({ ...byAdmin, roles }, user(of))).toMatchObject({ reason: 'forbidden' });
  });

  it.each<{ name: string; change: Partial<Administer> }>([
    { name: 'demoted', change: { roles: ['member'] } },
    { name: 'closed', change: { status: 'disabled' } },
  ])('keeps the last administrator from being $name', ({ change }) => {
    const last = { ...byAdmin, isLastAdmin: true, ...change };
    expect(administer(last, user(['admin']))).toMatchObject({ reason: 'last_admin' });
    expect(administer(last, user(['member'])).accepted).toBe(true);
  });

  it('deletes nobody twice, nobody above, and never the last administrator', () => {
    const deleted = deleteUser(byAdmin, user(['member'])).events.reduce(
      users.evolve,
      user(['member']),
    );
    expect(deleteUser(byAdmin, deleted)).toMatchObject({ reason: 'not_found' });
    expect(deleteUser(byAdmin, user(['owner']))).toMatchObject({ reason: 'forbidden' });
    expect(deleteUser({ ...byAdmin, isLastAdmin: true }, user(['admin']))).toMatchObject({
      reason: 'last_admin',
    });
  });
});
