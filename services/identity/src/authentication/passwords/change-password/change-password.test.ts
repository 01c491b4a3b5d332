import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { exists, type UserEvent, users } from '../../../accounts/accounts.module.ts';
import { changePassword } from './change-password.ts';

const NOW = new Date('2026-01-01T10:00:00Z');
const at = NOW.toISOString();
const sealed = (box: string) => ({ subject: 'user:ann', box });
const registered: UserEvent = {
  type: 'UserRegistered',
  data: {
    id: 'ann',
    email: sealed('email'),
    email_hash: 'h',
    email_verified: false,
    display_name: null,
    avatar_url: null,
    roles: ['member'],
    via: 'register',
    vouched: false,
    request_hash: null,
    created_at: at,
  },
};
const set = (of: { box: string; epoch: number; by: 'created' | 'user' }): UserEvent => ({
  type: 'PasswordSet',
  data: { id: 'ann', hash: sealed(of.box), by: of.by, epoch: of.epoch, keep_sid: null, at },
});
const created = set({ box: 'first', epoch: 0, by: 'created' });
const changed = set({ box: 'second', epoch: 1, by: 'user' });
const rehashed: UserEvent = {
  type: 'PasswordRehashed',
  data: { id: 'ann', hash: sealed('the same, hashed anew') },
};
const ended: UserEvent = {
  type: 'SessionsRevoked',
  data: { id: 'ann', epoch: 1, keep_sid: null, count: 1, at },
};
const disabled: UserEvent = { type: 'UserDisabled', data: { id: 'ann', epoch: 1, at } };

const { state: verified } = given(users, registered, created);
if (!exists(verified)) throw new Error('ann was registered');
const command = { verified, hash: sealed('second'), keep: null, now: NOW };
const changing = (...meanwhile: UserEvent[]) =>
  given(users, registered, created, ...meanwhile).when((user) => changePassword(command, user));

describe('a changed password', () => {
  it('takes the place of the one that was shown', () => {
    changing().accepts(changed);
  });

  it('R11 is refused to whoever has shown one that is not the current one any more', () => {
    changing(changed).refuses('not_current');
  });

  it('is set although the current one was hashed anew, or sessions were ended, since it was shown', () => {
    changing(rehashed).accepts(changed);
    changing(ended).accepts(set({ box: 'second', epoch: 2, by: 'user' }));
  });

  it('is refused to an account that was closed meanwhile', () => {
    changing(disabled).refuses('not_found');
  });

  it('keeps the session that changed it, while that is alive', () => {
    const kept = (userEpoch: number) =>
      given(users, registered, created).when((user) =>
        changePassword({ ...command, keep: { sid: 'own', userEpoch } }, user),
      ).state;
    expect(kept(0)).toMatchObject({ epoch: 1, keepSid: 'own' });
    expect(kept(-1)).toMatchObject({ epoch: 1, keepSid: null });
  });
});
