/** Rows are typed by the columns that a statement reads, and lists are counted in one place. */
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
