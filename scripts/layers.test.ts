/** Tests the order of the folders of a service: each file imports only from its own folder and from earlier ones. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** The folders from the lowest layer to the highest. */
const LAYERS: { readonly [service: string]: readonly string[] } = {
  authz: [
    'relations',
    'engine',
    'adapters',
    'replicas',
    'no-op-writes',
    'http',
    'models',
    'tuples',
    'importers',
  ],
};

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^'\n]+)'/g;

describe.each(Object.entries(LAYERS))('%s', (service, layers) => {
  const source = join(root, 'services', service, 'src');
  const files = globSync('*/**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'));
  const layerOf = (file: string): number => layers.indexOf(file.split('/')[0] ?? '');

  it('lists all of its folders', () => {
    const folders = new Set(files.map((file) => file.split('/')[0]));
    expect([...folders].toSorted()).toEqual(layers.toSorted());
  });

  it('imports from the ground up alone', () => {
    const wrong = files.flatMap((file) =>
      [...readFileSync(join(source, file), 'utf8').matchAll(IMPORT)]
        .map(([, path = '']) => relative(source, resolve(source, dirname(file), path)))
        .filter((target) => layerOf(target) > layerOf(file))
        .map((target) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});
