/**
 * Takes out of an installed workspace what each image holds, and nothing else: `node deploy/closures.ts TARGET`
 * makes in TARGET the folder `common` of what all services need, and one for each with the rest. Images copy both,
 * one upon the other, so that they share the first as a layer. Folders stay where they are in the workspace, and
 * packages of the workspace stay links: Node strips no types inside node_modules.
 */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const STORE = join('node_modules', '.pnpm');
/** The page that shows the API is one file; what its package is made from is not run by anybody. */
const BUNDLES: { readonly [name: string]: readonly string[] } = {
  '@scalar/api-reference': ['package.json', 'dist/index.js', 'dist/browser/standalone.js'],
};

type Link = { readonly name: string; readonly link: string; readonly target: string };
/** Folders, by their real paths, with the links that lead from each to others. */
export type Closure = ReadonlyMap<string, readonly Link[]>;

/**
 * Each folder that `folder` needs, itself first: real paths below `root`, with the links that lead from it to
 * others. `names` limits what the first one needs.
 */
export function closureOf(root: string, folder: string, names?: readonly string[]): Closure {
  const found = new Map<string, readonly Link[]>();
  const visit = (home: string, only?: readonly string[]): void => {
    if (found.has(home)) return;
    const links = BUNDLES[manifestOf(home).name] === undefined ? linksOf(root, home) : [];
    const wanted = links.filter(({ name }) => only === undefined || only.includes(name));
    found.set(home, wanted);
    for (const { target } of wanted) visit(target);
  };
  visit(realpathSync(join(root, folder)), names);
  return found;
}

/** What a package can import. One of the workspace says what it needs; beside any other lies what it needs. */
function linksOf(root: string, home: string): readonly Link[] {
  const isForeign = home.includes(`${STORE}/`);
  const modules = isForeign
    ? home.slice(0, home.lastIndexOf('/node_modules/') + '/node_modules'.length)
    : join(home, 'node_modules');
  const { dependencies = {} } = manifestOf(home);
  const names = isForeign ? packagesIn(modules) : Object.keys(dependencies);
  return names
    .map((name) => ({ name, link: join(modules, name) }))
    .filter(({ link }) => isThere(link) && lstatSync(link).isSymbolicLink())
    .map(({ name, link }) => ({ name, link: relative(root, link), target: realpathSync(link) }));
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function packagesIn(modules: string): readonly string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`)
        : [name],
    );
}

type Manifest = {
  readonly name: string;
  readonly dependencies?: { readonly [name: string]: string };
};
const manifestOf = (home: string): Manifest =>
  JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));

/** The files and folders of a package that images hold. */
export const copiedOf = (home: string): readonly string[] =>
  (BUNDLES[manifestOf(home).name] ?? ['.']).map((part) => join(home, part));

/** Copies folders and their links below `target`, at the paths that they have below `root`. */
export function copyClosure(root: string, target: string, closure: Closure): void {
  for (const [home, links] of closure) {
    const to = join(target, relative(root, home));
    for (const part of copiedOf(home)) {
      cpSync(part, join(to, relative(home, part)), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !path.slice(home.length).split('/').includes('node_modules'),
      });
    }
    for (const { link, target: linked } of links) {
      const at = join(target, link);
      if (isThere(at)) continue;
      mkdirSync(dirname(at), { recursive: true });
      symlinkSync(relative(dirname(join(root, link)), linked), at);
    }
  }
}

/** The parts of all images: what is common to all of `services`, and the rest of each. */
export function partsOf(root: string, services: readonly string[]): ReadonlyMap<string, Closure> {
  const closures = new Map(services.map((name) => [name, closureOf(root, join('services', name))]));
  const [first = new Map<string, readonly Link[]>(), ...others] = closures.values();
  const isCommon = (home: string): boolean => others.every((closure) => closure.has(home));
  const pick = (closure: Closure, wanted: (home: string) => boolean): Closure =>
    new Map([...closure].filter(([home]) => wanted(home)));
  return new Map([
    ['common', pick(first, isCommon)] as const,
    ...[...closures].map(
      ([name, closure]) => [name, pick(closure, (home) => !isCommon(home))] as const,
    ),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [target = 'parts'] = process.argv.slice(2);
  const root = process.cwd();
  const services = readdirSync('services').filter((name) =>
    existsSync(join('services', name, 'package.json')),
  );
  for (const [name, part] of partsOf(root, services)) copyClosure(root, join(target, name), part);
}
