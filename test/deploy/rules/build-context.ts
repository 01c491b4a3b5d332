/** The files that `docker build` would send to its engine: the checkout without what .dockerignore excludes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import dockerignore from '@balena/dockerignore';

/** Skipped without a look, because no COPY could name anything in them. */
const NEVER_SENT = new Set(['node_modules', '.git', '.cache', '.cardea']);

/** Paths of files, from the root of the repository. */
export function buildContext(
  ignoreText = readFileSync('.dockerignore', 'utf8'),
): readonly string[] {
  const ignored = dockerignore.default().add(ignoreText);
  return ignored.filter(filesBelow('.'));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (NEVER_SENT.has(entry.name)) return [];
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** The files that one source of a COPY includes: itself, or everything below it. */
export const filesOf = (source: string, context: readonly string[]): readonly string[] => {
  const path = source.replace(/^\.\//, '').replace(/\/$/, '');
  return context.filter((file) => file === path || file.startsWith(`${path}/`) || path === '.');
};
