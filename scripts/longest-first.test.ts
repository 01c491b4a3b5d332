import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LONG_FILES } from './test/longest-first.ts';

it('the list of long test files names files that are there, each once', () => {
  expect(LONG_FILES.filter((file) => !existsSync(file))).toEqual([]);
  expect(new Set(LONG_FILES).size).toBe(LONG_FILES.length);
});
