/** The files and members of this repository, for tests of its structure. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export type Manifest = {
  readonly name: string;
  readonly exports?: { readonly [path: string]: string };
  readonly license?: string;
  /** The older form of `license`. */
  readonly licenses?: readonly { readonly type: string }[];
  readonly dependencies?: { readonly [name: string]: string };
  readonly devDependencies?: { readonly [name: string]: string };
};

export const root = resolve(import.meta.dirname, '../..');
/** The members of the workspace. */
export const folders = ['packages', 'scripts', 'services'].flatMap((kind) =>
  readdirSync(join(root, kind))
    .map((name) => `${kind}/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'package.json'))),
);
/** The `package.json` of a member. */
export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

/** Folders whose files are not the repository's. */
export const NOT_OURS = new Set(['node_modules', '.git', '.cache', '.cardea']);
/** All files that are not ignored, relative to the root. */
export const files = filesBelow('.').map((file) => file.replace(/^\.\//, ''));
export const text = (file: string): string => readFileSync(join(root, file), 'utf8');

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}
