import { describe, expect, it } from 'vitest';
import { rankOf } from '../../../ranks/ranks.ts';
import type { User } from '../user.ts';
import { mailReset } from './mail-reset.ts';

const admin = { rank: rankOf(['admin']), isKey: false };
const user = (status: string, roles: readonly string[] = ['member']) =>
  ({ id: 'bob', status, roles }) as User;

describe('somebody who cannot sign in', () => {
  it('is mailed what helps them, and is told apart by what stands in the way', () => {
    expect(mailReset(admin, user('active'))).toMatchObject({ mail: 'reset' });
    expect(mailReset(admin, user('invited'))).toMatchObject({ mail: 'invitation' });
    expect(mailReset(admin, user('disabled'))).toEqual({ refused: 'user_inactive' });
    expect(mailReset(admin, user('active', ['owner']))).toEqual({ refused: 'forbidden' });
    expect(mailReset(admin, { status: 'none' })).toEqual({ refused: 'not_found' });
  });
});
