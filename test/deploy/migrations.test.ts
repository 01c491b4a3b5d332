/**
 * Tests that migrations that a data folder may have applied keep their text, because a process refuses a folder with a
 * different one.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
/** Path to SHA-256 of the file. A new migration is added here, and then never changes, not even in a comment. */
const APPLIED: { readonly [file: string]: string } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, 'migrations.json'), 'utf8'),
);

it('migrations are those that were applied, to the letter, and new ones', () => {
  const files = globSync('{services,packages}/*/migrations/*.ts', { cwd: root });
  const hashes = files.toSorted().map((file) => [
    file,
    createHash('sha256')
      .update(readFileSync(resolve(root, file)))
      .digest('hex'),
  ]);
  expect(Object.fromEntries(hashes)).toEqual(APPLIED);
});
