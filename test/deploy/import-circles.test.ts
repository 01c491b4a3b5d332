/** Tests that no file of ours imports itself through other files, so the order of the files is well defined. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

type Imports = ReadonlyMap<string, readonly string[]>;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Imports of types count too, because a reader of the file has to read what it names. */
const IMPORT = /^(?:import|export)\b[^;'"]*?from '(\.[^'\n]+)'/gm;

const importsOf = (files: readonly string[]): Imports =>
  new Map(
    files.map((file) => [
      file,
      [...readFileSync(file, 'utf8').matchAll(IMPORT)]
        .map(([, specifier = '']) => resolve(dirname(file), specifier))
        .filter((target) => existsSync(target)),
    ]),
  );

/** Finds the first circle that leads through each file. */
function circles(imports: Imports): readonly string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file);
    if (at >= 0) found.push([...way.slice(at), file].join(' → ').replaceAll(root, ''));
    if (at >= 0 || done.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return found;
}

it('finds a circle of types and values', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b']],
  ]);
  expect(circles(imports)).toEqual(['b → c → b']);
});

it('no file imports itself by way of others', () => {
  const files = ['packages/*/src', 'services/*/src', 'services/*/migrations', 'scripts', 'test']
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
    .map((file) => resolve(root, file));
  const imports = importsOf(files);
  expect([...imports.values()].flat().length).toBeGreaterThan(files.length);
  expect(circles(imports)).toEqual([]);
});
