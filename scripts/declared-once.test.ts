/**
 * Rows are typed by the columns that a statement reads, lists are counted in one place, and a field of a user's profile
 * is declared in one file.
 */
import { describe, expect, it } from 'vitest';
import { files, text } from './test/repository-files.ts';

const sources = files.filter(
  (file) =>
    /^(packages|services)\/[^/]+\/src\/.*\.ts$/.test(file) &&
    !file.endsWith('.test.ts') &&
    !file.startsWith('packages/testing/'),
);
const withMatch = (pattern: RegExp): readonly string[] =>
  sources.filter((file) => pattern.test(text(file)));

describe('a row', () => {
  it('has the type that its selection gives, not one that repeats it', () => {
    expect(withMatch(/^\s*(?:export )?type Row\b[^=]*=/m)).toEqual([]);
  });
});

describe('a list', () => {
  it('is counted by the function that reads its page', () => {
    // The search counts the ids that it has found in the same statement.
    expect(withMatch(/count\(\*\)[^;]*?\bAS total\b/)).toEqual([
      'packages/postgres/src/rows/page-of-rows.ts',
      'services/identity/src/accounts/users/administer/admin-users.ts',
    ]);
  });
});

describe('a field of the profile of a user', () => {
  it('is named where it is declared, and where it means more than a text of its user', () => {
    const naming = withMatch(/preferred_?username/i).filter((file) => file.includes('/identity/'));
    expect(naming.toSorted()).toEqual([
      // A field of the account's page.
      'services/identity/src/account-pages/profile-page.ts',
      // An expression of the index of the search.
      'services/identity/src/accounts/users/administer/admin-users.ts',
      // Claims of OpenID Connect.
      'services/identity/src/adapters/authorization-config.ts',
      'services/identity/src/http/profile-fields.ts',
      'services/identity/src/oauth/userinfo/user-claims.ts',
      'services/identity/src/oauth/userinfo/userinfo.route.ts',
      'services/identity/src/workspaces/applications/application-claims.ts',
    ]);
  });
});
