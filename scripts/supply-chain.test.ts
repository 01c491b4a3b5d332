/** Tests what the product takes from others, and that it contains nothing of the machine on which it was written. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { files, folders, type Manifest, manifestOf, root, text } from './test/repository-files.ts';

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
    // Dependencies of the test runner, of containers in tests, and of page checks in tests. None of them is shipped.
    // The two in the public domain require not even a notice.
    const exceptions = /^(axe-core|lightningcss.*|railroad-diagrams|tweetnacl)$/;
    const others = installed()
      .filter(({ manifest }) => !exceptions.test(manifest.name))
      .map(({ manifest }) => ({ name: manifest.name, licence: licenceOf(manifest) }))
      .filter(({ licence }) => !mayBeTaken(licence, allowed))
      .map(({ name, licence }) => `${name}: ${licence}`);
    expect(others).toEqual([]);
  });

  it('S19 names no host but loopback, examples and the standards it cites', () => {
    const known =
      /^(localhost|127\.0\.0\.1|\[::1\]|([\w-]+\.)*example(\.(com|org|net))?|[\w.-]+\.(test|invalid|local)|identity|approval|authz|(www\.)?(w3\.org|rfc-editor\.org|apache\.org|json-schema\.org|schemas\.openid\.net|spec\.openapis\.org)|(api\.)?github\.com|accounts\.google\.com|api\.pwnedpasswords\.com|login\.microsoftonline\.com|docs\.slack\.dev|hooks\.slack\.com|learn\.microsoft\.com|adaptivecards\.io|docs\.discord\.com|docs\.ntfy\.sh)$/;
    const named = files
      .filter((file) => /^(packages|services|scripts|test)\//.test(file))
      .filter((file) => file.endsWith('.ts') && !/(\.test|address-forms)\.ts$/.test(file))
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
    expect(
      checked.filter((file) => traces.test(text(file)) && !file.includes('supply-chain')),
    ).toEqual([]);
  });
});

function hasInstallScript(manifest: Manifest & { scripts?: { [name: string]: string } }): boolean {
  return ['preinstall', 'install', 'postinstall'].some((name) => manifest.scripts?.[name]);
}

/** The licences of a package, joined by OR. */
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
