import { describe, expect, it } from 'vitest';
import type { ForeignHash } from '../../../adapters/foreign-hash-forms.ts';
import { rankOf } from '../../../ranks/ranks.ts';
import { TENANT_DEFAULTS } from '../../../workspaces/workspaces.module.ts';
import { readUsers } from './import-users.ts';

const READ: { readonly [hash: string]: { readonly phc: string } | 'too_dear' } = {
  known: { phc: 'as it is stored' },
  dear: 'too_dear',
};
const of = {
  by: { rank: rankOf(['admin']), isKey: false },
  settings: TENANT_DEFAULTS,
  readHash: ({ hash }: ForeignHash) =>
    (typeof hash === 'string' ? READ[hash] : undefined) ?? ('unknown' as const),
  readTotpSecret: (text: string) => (text === 'secret' ? 'SECRET' : undefined),
  toAscii: (domain: string) => domain,
};
const email = 'ann@example.com';

describe('people who are imported', () => {
  it.each([
    { user: { email: 'ann' }, code: 'invalid_email' },
    { user: { email, display_name: '\u0000' }, code: 'invalid_request' },
    { user: { email, avatar_url: 'http://a.example' }, code: 'invalid_request' },
    { user: { email, locale: 'german language' }, code: 'invalid_request' },
    { user: { email, preferred_username: 'x'.repeat(65) }, code: 'invalid_request' },
    { user: { email, public_metadata: { a: 'x'.repeat(4_096) } }, code: 'invalid_request' },
    { user: { email, private_metadata: { constructor: 1 } }, code: 'invalid_request' },
    { user: { email, roles: ['pope'] }, code: 'unknown_role' },
    { user: { email, roles: ['owner'] }, code: 'forbidden' },
    { user: { email, password_hash: 'unknown' }, code: 'unsupported_hash' },
    { user: { email, password_hash: 'dear' }, code: 'hash_too_dear' },
    { user: { email, totp_secret: 'none' }, code: 'invalid_totp_secret' },
  ])('are refused one by one: $code', ({ user, code }) => {
    const other = { email: 'bob@example.com', password_hash: 'known', totp_secret: 'secret' };
    expect(readUsers([user, other], of)).toEqual([
      code,
      {
        ...{ email: other.email, emailVerified: false, displayName: null, avatarUrl: null },
        ...{ profile: {}, metadata: {} },
        ...{ roles: ['member'], passwordHash: 'as it is stored', totpSecret: 'SECRET' },
      },
    ]);
  });

  it('keep what was said of them, in its canonical form and without nulls', () => {
    const said = {
      locale: 'de-at',
      preferred_username: ' ann ',
      public_metadata: { a: 1, b: null },
    };
    expect(readUsers([{ email, ...said, private_metadata: {}, avatar_url: null }], of)).toEqual([
      expect.objectContaining({
        ...{ avatarUrl: null, profile: { locale: 'de-AT', preferred_username: 'ann' } },
        metadata: { public_metadata: { a: 1 } },
      }),
    ]);
  });

  it('are taken once each, however their address is written', () => {
    const [first, second] = readUsers([{ email }, { email: 'ANN@example.com' }], of);
    expect(first).toMatchObject({ email });
    expect(second).toBe('email_already_exists');
  });
});
