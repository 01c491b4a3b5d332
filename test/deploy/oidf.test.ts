/**
 * Tests the table of the OpenID Foundation's modules: a module that it does not call skipped has a test, and a module
 * that it does not call passed has a reason.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const text = (file: string): string => readFileSync(file, 'utf8');
const rows = [
  ...text('docs/security/oidf.md').matchAll(
    /^\| (?<module>oidcc-[\w-]+) *\| [\w, ]+\| (?<result>passed|warning|skipped) *\| (?<reason>.*?) *\|$/gm,
  ),
].map(({ groups }) => ({ module: groups?.['module'] ?? '', ...groups }) as Row);
type Row = { readonly module: string; readonly result: string; readonly reason: string };
const played = ['oidf-basic', 'oidf-logout'].flatMap((name) =>
  [...text(`services/identity/test/${name}.int.test.ts`).matchAll(/^ {2}'(oidcc-[\w-]+)': /gm)].map(
    ([, module = '']) => module,
  ),
);

it('names each module that is played, and no other as passed', () => {
  expect(rows.length).toBeGreaterThan(played.length);
  const said = rows.filter(({ result }) => result !== 'skipped').map(({ module }) => module);
  expect(said.toSorted()).toEqual(played.toSorted());
});

it('says why a module is not simply passed', () => {
  const silent = rows.filter(({ result, reason }) => (result === 'passed') !== (reason === ''));
  expect(silent).toEqual([]);
});
