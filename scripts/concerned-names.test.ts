/**
 * A private event names the projections and policies that it concerns (`concerns?:`), which the compiler compares with
 * their handlers. The compiler does not notice a name that nothing has, since names are not values. This test does.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const files = execFileSync('git', ['ls-files', 'services/*/src/*.ts', 'packages/*/src/*.ts'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.endsWith('.test.ts'));
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));

const serviceOf = (file: string): string => file.split('/').slice(0, 2).join('/');

/** The names that may be concerned: `relay`, a service's projections and policies, and its other tables of handlers. */
const listenersOf = (service: string): ReadonlySet<string> =>
  new Set([
    'relay',
    ...[...texts].flatMap(([file, text]) => {
      if (serviceOf(file) !== service) return [];
      const own = /\.(policy|projection)\.ts$/.test(file)
        ? [...text.matchAll(/(?:\bname: |_TABLE = )'(\w+)'/g)]
        : [];
      return [...own, ...text.matchAll(/ConcerningType<\w+, '(\w+)'>/g)].map(
        ([, name]) => name ?? '',
      );
    }),
  ]);

const concerned = [...texts].flatMap(([file, text]) =>
  [...text.matchAll(/readonly concerns\?:([^;]*);/g)].flatMap(([, names = '']) =>
    [...names.matchAll(/'(\w+)'/g)].map(([, name = '']) => ({ service: serviceOf(file), name })),
  ),
);

it('each event concerns projections, policies and relays that are there', () => {
  expect(concerned.length).toBeGreaterThan(100);
  const unknown = concerned.filter(({ service, name }) => !listenersOf(service).has(name));
  expect(unknown).toEqual([]);
});
