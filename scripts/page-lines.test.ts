/** Tests that a page is short: its reads, its forms and its view. All pages share the mechanism. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { files } from './test/repository-files.ts';

const LINES_MAX = 40;
const PAGES_MIN = 8;

/** Lines of the value of each page, by its file. */
const pages = files
  .filter((file) => /^services\/\w[\w-]*\/src\/.*-page\.ts$/.test(file))
  .flatMap((file) => {
    const [, value] =
      /\n {2}pageOf\(\{\n([\s\S]*?)\n {2}\}\);/.exec(readFileSync(file, 'utf8')) ?? [];
    return value === undefined ? [] : [{ file, lines: value.split('\n').length }];
  });

describe('people 1 a page', () => {
  it(`has at most ${LINES_MAX} lines in the median`, () => {
    expect(pages.length).toBeGreaterThanOrEqual(PAGES_MIN);
    const lines = pages.map((page) => page.lines).toSorted((one, other) => one - other);
    expect(lines[Math.floor(lines.length / 2)], JSON.stringify(pages)).toBeLessThanOrEqual(
      LINES_MAX,
    );
  });
});
