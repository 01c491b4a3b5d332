import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import rows from '../rows.json' with { type: 'json' };

const FILES = ['packages', 'services', 'test', 'scripts'].flatMap((folder) =>
  globSync(`${folder}/**/{*.test,*-suite,suite,conformance}.ts`, {
    exclude: (path) => String(path).includes('node_modules'),
  }),
);

/**
 * Numbers at the start of a title: `'R21 F6 a command …'` has two. P, C and H are the rules of
 * `docs/design/bounds.md`.
 */
function numbersIn(text: string): readonly string[] {
  return [...text.matchAll(/['"`]((?:[RSFQPCH]\d+[,/ ]+)+)/g)].flatMap(
    ([, numbers = '']) => numbers.match(/[RSFQPCH]\d+/g) ?? [],
  );
}

const tested = new Set(FILES.flatMap((file) => numbersIn(readFileSync(file, 'utf8'))));

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);
/** The rows of the designs of identity, of its authorization server, and of people and machines. */
const ROWS_OF = [
  ...upTo(27).map((number) => ['identity', number] as const),
  ...upTo(41).map((number) => ['oauth', number] as const),
  ...[8, 9].map((number) => ['standards', number] as const),
];
const texts = FILES.map((file) => readFileSync(file, 'utf8'));

describe('Q6 every row of identity and of its authorization server', () => {
  it.each(ROWS_OF)('%s %i has a test that is named for it', (area, number) => {
    const title = new RegExp(`['"\`][^'"\`\n]*\\b${area}[ -](?:\\d+ )*${number}\\b`);
    expect(texts.some((text) => title.test(text))).toBe(true);
  });
});

describe('Q6 every row that is due', () => {
  it.each(Object.entries(rows))('%s has a test that is named for it: %s', (number) => {
    expect(tested.has(number)).toBe(true);
  });
});
