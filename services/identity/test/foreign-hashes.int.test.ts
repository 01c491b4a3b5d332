/** Users who are imported with other products' hashes sign in once with those, and then with ours. */
import { readFileSync } from 'node:fs';
import { testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type IdentityFixture, identityFixture } from './identity-fixture.ts';

const IMPORT = '/api/v1/admin/users/import';
const { passwords, vectors } = JSON.parse(
  readFileSync(new URL('./data/foreign-hashes.json', import.meta.url), 'utf8'),
);
const database = testDatabase();
let fixture: IdentityFixture;
let admin: Account;
beforeAll(async () => {
  fixture = await identityFixture(database.url, { RATE_LIMIT_FACTOR: '10000' });
  admin = await fixture.signUp();
});
afterAll(async () => {
  await fixture?.stop();
});

type Vector = { readonly password: string; readonly hash: unknown; readonly firebase?: unknown };
/** One hash of each format, of a password in decomposed Unicode (NFD). The unit test verifies the hashes themselves. */
const people = vectors
  .filter(({ password }: Vector) => password === 'nfd')
  .map(({ password, hash, firebase }: Vector, index: number) => ({
    user: { email: `person.${index}@example.com`, password_hash: hash, firebase },
    typed: passwords[password],
  }));

describe('an imported password hash', () => {
  it('identity 20 opens the account with what was typed elsewhere, and then with any form of it', async () => {
    const users = people.map(({ user }: { user: object }) => user);
    const { body } = await fixture.as(admin).post(IMPORT, { users });
    expect(body).toEqual({ imported: people.length, failed: [] });
    const { tenantId } = admin;
    for (const { user, typed } of people) {
      const account = { tenantId, email: user.email };
      const from = await fixture.head();
      const first = await fixture.logIn(account, typed);
      expect(`${user.email} ${first.status}`).toBe(`${user.email} 200`);
      const types = (await fixture.eventsSince(from)).map(({ type }) => type);
      expect(types).toContain('PasswordRehashed');
      expect((await fixture.logIn(account, typed.normalize('NFC'))).status).toBe(200);
    }
  });

  it('identity 20 C7 above a ceiling, or in no known form, refuses that person by number', async () => {
    const users = [
      {
        email: 'one@example.com',
        password_hash: 'pbkdf2_sha256$2000001$salt$AAAAAAAAAAAAAAAAAAAA',
      },
      { email: 'two@example.com', password_hash: 'pbkdf2_sha256$1000$salt$AAAAAAAAAAAAAAAAAAAA' },
      { email: 'three@example.com', password_hash: { secretData: '{}', credentialData: '{}' } },
      {
        email: 'four@example.com',
        password_hash: '$scrypt$ln=16,r=1,p=1$AAAAAAAA$AAAAAAAAAAAAAAAA',
      },
    ];
    const { body } = await fixture.as(admin).post(IMPORT, { users });
    expect(body).toEqual({
      imported: 1,
      failed: [
        { index: 0, code: 'hash_too_dear' },
        { index: 2, code: 'unsupported_hash' },
        { index: 3, code: 'unsupported_hash' },
      ],
    });
  });
});
