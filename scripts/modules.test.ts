/** The boundaries between the modules of a service: a folder with `<folder>/<folder>.module.ts` is a module. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

const files = readdirSync(join(root, 'services')).flatMap((service) =>
  readdirSync(join(root, 'services', service, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => `services/${service}/src/${file.replaceAll('\\', '/')}`),
);
const faceOf = (folder: string): string => `${folder}/${folder.split('/').at(-1)}.module.ts`;

/** The folder of a file's module; undefined for files that modules share, and for the list of modules. */
function moduleOf(file: string): string | undefined {
  const folder = /^services\/[^/]+\/src\/[^/]+(?=\/)/.exec(file)?.[0];
  return folder !== undefined && files.includes(faceOf(folder)) ? folder : undefined;
}

/** Imports of types count as dependencies too. */
const imports = files.flatMap((file) =>
  [
    ...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^'\n]+)'/g),
  ].map((match) => {
    const target = relative(root, resolve(root, dirname(file), match[1] ?? ''));
    return { file, target, from: moduleOf(file), into: moduleOf(target) };
  }),
);
const crossing = imports.filter(({ from, into }) => from !== into && into !== undefined);
const shown = (wrong: readonly { readonly file: string; readonly target: string }[]) =>
  wrong.map(({ file, target }) => `${file} → ${target}`);

describe('a module', () => {
  it('is met by its face alone', () => {
    expect(
      shown(crossing.filter(({ into, target }) => into !== undefined && target !== faceOf(into))),
    ).toEqual([]);
  });

  it('does not need its own face', () => {
    expect(
      shown(imports.filter(({ from, target }) => from !== undefined && target === faceOf(from))),
    ).toEqual([]);
  });

  it('is needed by no folder that modules share', () => {
    const isList = /^services\/[^/]+\/src\/[^/]+\.ts$/;
    expect(
      shown(crossing.filter(({ file, from }) => from === undefined && !isList.test(file))),
    ).toEqual([]);
  });

  it('never comes to need itself through others, not even for a type', () => {
    const needs = new Map<string, Set<string>>();
    for (const { from, into } of crossing) {
      if (from !== undefined && into !== undefined)
        needs.set(from, (needs.get(from) ?? new Set()).add(into));
    }
    const reaches = (module: string, seen = new Set<string>()): Set<string> => {
      for (const next of needs.get(module) ?? []) {
        if (!seen.has(next)) reaches(next, seen.add(next));
      }
      return seen;
    };
    expect([...needs.keys()].filter((module) => reaches(module).has(module))).toEqual([]);
  });
});
