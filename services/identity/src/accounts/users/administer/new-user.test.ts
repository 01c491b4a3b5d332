import { describe, expect, it } from 'vitest';
import { rankOf } from '../../../ranks/ranks.ts';
import { TENANT_DEFAULTS } from '../../../workspaces/workspaces.module.ts';
import { objectionTo } from './new-user.ts';

const of = { by: { rank: rankOf(['admin']), isKey: false }, settings: TENANT_DEFAULTS };

describe('an account that an administrator asks for', () => {
  it.each([
    { asked: {}, said: undefined },
    { asked: { display_name: '\u0000' }, said: 'invalid_request' },
    { asked: { avatar_url: 'http://a.example' }, said: 'invalid_request' },
    { asked: { roles: ['pope'] }, said: 'unknown_role' },
    { asked: { roles: ['owner'] }, said: 'forbidden' },
    { asked: { roles: ['admin'] }, said: undefined },
    { asked: { password: 'short' }, said: 'password_too_short' },
    { asked: { send_invitation: true }, said: undefined },
    { asked: { password: 'eight or more', send_invitation: true }, said: 'invalid_request' },
  ])('with $asked is refused with $said', ({ asked, said }) => {
    expect(objectionTo(asked, of)?.refused).toBe(said);
  });
});
