import { describe, expect, it } from 'vitest';
import { TENANT_DEFAULTS } from '../../../workspaces/workspaces.module.ts';
import { rankOf } from '../ranks.ts';
import { readUsers } from './import-users.ts';

const of = {
  by: { rank: rankOf(['admin']), isKey: false },
  settings: TENANT_DEFAULTS,
  isKnownHash: (phc: string) => phc === 'known',
  readTotpSecret: (text: string) => (text === 'secret' ? 'SECRET' : undefined),
  toAscii: (domain: string) => domain,
};
const email = 'ann@example.com';

describe('people who are imported', () => {
  it.each([
    { user: { email: 'ann' }, code: 'invalid_email' },
    { user: { email, display_name: '\u0000' }, code: 'invalid_request' },
    { user: { email, avatar_url: 'http://a.example' }, code: 'invalid_request' },
    { user: { email, roles: ['pope'] }, code: 'unknown_role' },
    { user: { email, roles: ['owner'] }, code: 'forbidden' },
    { user: { email, password_hash: 'unknown' }, code: 'unsupported_hash' },
    { user: { email, totp_secret: 'none' }, code: 'invalid_totp_secret' },
  ])('are refused one by one: $code', ({ user, code }) => {
    const other = { email: 'bob@example.com', password_hash: 'known', totp_secret: 'secret' };
    expect(readUsers([user, other], of)).toEqual([
      code,
      {
        ...{ email: other.email, emailVerified: false, displayName: null, avatarUrl: null },
        ...{ roles: ['member'], passwordHash: 'known', totpSecret: 'SECRET' },
      },
    ]);
  });

  it('are taken once each, however their address is written', () => {
    const [first, second] = readUsers([{ email }, { email: 'ANN@example.com' }], of);
    expect(first).toMatchObject({ email });
    expect(second).toBe('email_already_exists');
  });
});
