/** Tests that one function appends the first proof of an address, so that every kind of proof reclaims the account. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const APPENDS = /(?<!readonly )type: 'EmailVerified'/;

it('P4 the first proof of an address is appended in one file', () => {
  const sources = globSync('services/identity/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const makers = sources.filter((file) => APPENDS.test(readFileSync(join(root, file), 'utf8')));
  expect(makers).toEqual(['services/identity/src/accounts/users/prove-address.ts']);
});
