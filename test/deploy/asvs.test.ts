import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Level 1 of OWASP ASVS 5.0.0 in V6, V7, V9 and V10. */
const LEVEL_1 = [
  ...['6.1.1', '6.2.1', '6.2.2', '6.2.3', '6.2.4', '6.2.5', '6.2.6', '6.2.7', '6.2.8'],
  ...['6.3.1', '6.3.2', '6.4.1', '6.4.2'],
  ...['7.2.1', '7.2.2', '7.2.3', '7.2.4', '7.4.1', '7.4.2'],
  ...['9.1.1', '9.1.2', '9.1.3', '9.2.1'],
  ...['10.4.1', '10.4.2', '10.4.3', '10.4.4', '10.4.5'],
];
const root = resolve(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(resolve(root, path), 'utf8');

const rows = textOf('docs/security/asvs.md')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => {
    const [number = '', , , tests = ''] = line
      .slice(1)
      .split(' | ')
      .map((cell) => cell.trim());
    const named = [...tests.matchAll(/`([^`]+)`: ([^;|]+)/g)].map(([, file = '', title = '']) => ({
      file,
      title: title.trim(),
    }));
    return { number, named };
  });

describe('the table of OWASP ASVS', () => {
  it('has a row for each requirement of level 1, and no other', () => {
    expect(rows.map(({ number }) => number)).toEqual(LEVEL_1);
  });

  it.each(rows)('names tests that are there: $number', ({ named }) => {
    expect(named.length).toBeGreaterThan(0);
    for (const { file, title } of named) expect(textOf(file), file).toContain(title);
  });
});
