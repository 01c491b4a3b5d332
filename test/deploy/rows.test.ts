import { existsSync, globSync, readFileSync } from 'node:fs';
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
/**
 * The rows of the designs of identity, its authorization server, machines, pages for people, and what approval added.
 */
const ROWS_OF = [
  ...upTo(31).map((number) => ['identity', number] as const),
  ...upTo(41).map((number) => ['oauth', number] as const),
  ...[8, 9].map((number) => ['standards', number] as const),
  ...upTo(12).map((number) => ['people', number] as const),
  ...upTo(32)
    .slice(24)
    .map((number) => ['approval', number] as const),
];
const texts = FILES.map((file) => readFileSync(file, 'utf8'));

describe('Q6 every row of these designs', () => {
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

/** Rules of `docs/design/bounds.md` with the tests that `docs/design/quality.md` lists for them. */
const LISTED = readFileSync('docs/design/quality.md', 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, rule = '', , cell = ''] = line.split('|').map((each) => each.trim());
    if (!/^[PCH]\d+$/.test(rule)) return [];
    const paths = [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    return [{ rule, files: paths.filter((path) => path.includes('/')).flatMap(filesOf) }];
  });

/** `services/{one,other}.test.ts` is two files, and `security/ranks` is short for `test/security/ranks.test.ts`. */
function filesOf(path: string): readonly string[] {
  const [, start = '', names = '', end = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  const all = names === '' ? [path] : names.split(',').map((name) => start + name + end);
  return all.map((each) => (each.endsWith('.ts') ? each : `test/${each}.test.ts`));
}

describe('Q6 every rule of bounds', () => {
  it('has a row', () => {
    const rules = [...[9, 7, 4].entries()].flatMap(([at, last]) =>
      upTo(last).map((number) => `${'PCH'[at]}${number}`),
    );
    expect(LISTED.map(({ rule }) => rule)).toEqual(rules);
  });

  it.each(LISTED)('$rule lists tests that are there, each with one that is named for it', (row) => {
    expect(row.files.length).toBeGreaterThan(0);
    expect(row.files.filter((file) => !existsSync(file))).toEqual([]);
    const isNamed = (file: string) => numbersIn(readFileSync(file, 'utf8')).includes(row.rule);
    expect(row.files.filter((file) => !isNamed(file))).toEqual([]);
  });
});
