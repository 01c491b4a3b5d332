import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { mayGiveRoles, rankOf } from '../../../ranks/ranks.ts';
import { type UserEvent, users } from '../user.ts';
import { type Administer, administer, deleteUser } from './administer.ts';

const now = new Date('2026-01-01T10:00:00Z');
const at = now.toISOString();
const sealed = { subject: 'user:ann', box: 'box' };
const registered = (roles: readonly string[], vouched = false): UserEvent => ({
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed,
    email_hash: 'hash',
    email_verified: true,
    display_name: null,
    avatar_url: null,
    roles,
    via: 'register',
    vouched,
    request_hash: null,
    created_at: at,
  },
});
const as = (role: string) => ({ rank: rankOf([role]), isKey: false });
const key = { rank: rankOf(['member']), isKey: true };
const byAdmin: Administer = { by: as('admin'), mayLeave: false, tokensBefore: 100, now };
const vouched: UserEvent = { type: 'UserVouched', data: { id: 'ann', at } };
const withdrawn: UserEvent = { type: 'VouchWithdrawn', data: { id: 'ann', at } };
const change = (
  more: Partial<Administer>,
  roles: readonly string[],
  ...further: readonly UserEvent[]
) =>
  given(users, registered(roles), ...further).when((user) =>
    administer({ ...byAdmin, ...more }, user),
  );

describe('administering an account', () => {
  it('raises the epoch when it closes the account, so that its sessions end', () => {
    const closed: UserEvent = { type: 'UserDisabled', data: { id: 'ann', epoch: 1, at } };
    change({ status: 'disabled' }, ['member']).accepts(closed);
    change({ status: 'disabled' }, ['member'], closed).accepts();
    change({ status: 'active' }, ['member'], closed).accepts({
      type: 'UserEnabled',
      data: { id: 'ann', at },
    });
  });

  it('says all that a request changes in one decision', () => {
    const all = {
      profile: { display_name: sealed },
      roles: ['member', 'admin'],
      vouched: true,
    } as const;
    change({ ...all, status: 'disabled' }, ['member']).accepts(
      { type: 'ProfileChanged', data: { id: 'ann', display_name: sealed, at } },
      { type: 'RolesChanged', data: { id: 'ann', roles: all.roles, at } },
      vouched,
      { type: 'UserDisabled', data: { id: 'ann', epoch: 1, at } },
    );
    change({ ...all, roles: ['owner'] }, ['member']).refuses('forbidden');
  });

  it.each([
    { name: 'a role above the own', roles: ['owner'], of: ['member'] },
    { name: 'anything to somebody above', roles: ['member'], of: ['owner', 'admin'] },
  ])('gives nobody $name', ({ roles, of }) => {
    change({ roles }, of).refuses('forbidden');
  });

  it('ends the tokens that show a role which was taken, and never earlier ones alone', () => {
    const taken: UserEvent = {
      type: 'RolesChanged',
      data: { id: 'ann', roles: ['owner'], tokens_before: 100, at },
    };
    const byOwner = { by: as('owner'), mayLeave: true };
    change({ ...byOwner, roles: ['owner'] }, ['owner', 'admin']).accepts(taken);
    const given_ = change({ ...byOwner, roles: ['owner', 'admin'] }, ['owner']);
    given_.accepts(
      { type: 'RolesChanged', data: { id: 'ann', roles: ['owner', 'admin'], at } },
      vouched,
    );
    const again = change({ ...byOwner, roles: ['member'], tokensBefore: 90 }, ['admin'], taken);
    expect(again.decision.events).toMatchObject([{ data: { tokens_before: 100 } }]);
  });

  it.each<{ name: string; more: Partial<Administer> }>([
    { name: 'demoted', more: { roles: ['member'] } },
    { name: 'closed', more: { status: 'disabled' } },
  ])('has it said before that an administrator is $name', ({ more }) => {
    change(more, ['admin']).refuses('leaves');
    expect(change({ ...more, mayLeave: true }, ['admin']).decision.accepted).toBe(true);
    expect(change(more, ['member']).decision.accepted).toBe(true);
  });

  it('deletes nobody twice, nobody above, and no administrator before it is said', () => {
    const remove = (roles: readonly string[], more: Partial<Administer> = {}) =>
      given(users, registered(roles)).when((user) => deleteUser({ ...byAdmin, ...more }, user));
    const gone = remove(['member']).state;
    expect(deleteUser(byAdmin, gone)).toMatchObject({ reason: 'not_found' });
    remove(['owner']).refuses('forbidden');
    remove(['admin']).refuses('leaves');
    remove(['member'], { by: key }).accepts({
      type: 'UserDeleted',
      data: { id: 'ann', email_hash: 'hash', deleted_at: at },
    });
    remove(['admin'], { by: key }).refuses('forbidden');
  });
});

describe('an API key', () => {
  it.each<{ name: string; more: Partial<Administer>; of: readonly string[] }>([
    { name: 'gives no role', more: { roles: ['member', 'admin'] }, of: ['member'] },
    { name: 'gives no role of the tenant’s own', more: { roles: ['billing'] }, of: ['member'] },
    { name: 'takes none', more: { roles: ['member'] }, of: ['member', 'billing'] },
    { name: 'vouches for nobody', more: { vouched: true }, of: ['member'] },
    { name: 'takes back no vouch', more: { vouched: false }, of: ['member'] },
    {
      name: 'changes nobody above a member',
      more: { profile: { display_name: sealed } },
      of: ['admin'],
    },
    { name: 'closes nobody above a member', more: { status: 'disabled' }, of: ['admin'] },
  ])('$name', ({ more, of }) => {
    change({ ...more, by: key }, of).refuses('forbidden');
  });

  it('makes members alone', () => {
    expect(mayGiveRoles(key, ['member'])).toBe(true);
    expect(mayGiveRoles(key, ['admin'])).toBe(false);
    expect(mayGiveRoles(key, ['billing'])).toBe(false);
    expect(mayGiveRoles(as('admin'), ['admin', 'billing'])).toBe(true);
    expect(mayGiveRoles(as('admin'), ['owner'])).toBe(false);
  });
});

describe('vouching', () => {
  it('is said and taken back, each once', () => {
    change({ vouched: true }, ['member']).accepts(vouched);
    change({ vouched: true }, ['member'], vouched).accepts();
    change({ vouched: false }, ['member'], vouched).accepts(withdrawn);
    change({ vouched: false }, ['member']).accepts();
  });

  it('comes with a role that an administrator gives, unless the same request says otherwise', () => {
    const given_ = (more: Partial<Administer>) =>
      change({ roles: ['member', 'billing'], ...more }, ['member']).decision.events.map(
        ({ type }) => type,
      );
    expect(given_({})).toEqual(['RolesChanged', 'UserVouched']);
    expect(given_({ vouched: false })).toEqual(['RolesChanged']);
    change({ roles: ['member'] }, ['member', 'billing']).accepts({
      type: 'RolesChanged',
      data: { id: 'ann', roles: ['member'], at },
    });
  });
});
