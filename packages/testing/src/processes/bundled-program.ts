/**
 * The file to run for one of our programs. The run of all tests bundles the programs that tests start most often,
 * because Node needs more than a second of a core to find and read the 3,000 files of one. Without a bundle it is the
 * program's source.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Names a JSON file with the bundle of each source, both as absolute paths. */
const VARIABLE = 'BUNDLED_PROGRAMS';

let bundles: { readonly [source: string]: string } | undefined;

/** Takes a path, which is relative to the current folder unless it is absolute, or a `file:` URL. */
export function programOf(script: string | URL): string {
  const source = script instanceof URL ? fileURLToPath(script) : resolve(script);
  const list = process.env[VARIABLE];
  if (list === undefined) return source;
  bundles ??= JSON.parse(readFileSync(list, 'utf8')) as { [source: string]: string };
  return bundles[source] ?? source;
}
