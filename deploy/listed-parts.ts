/**
 * Leaves of a list of parts what the image of a service holds: `node deploy/listed-parts.ts SERVICE FILE`, on a
 * CycloneDX file that pnpm made, in an installed workspace. The lockfile alone also lists what a part of a
 * package would need that no image holds.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closureOf } from './closures.ts';

type Component = { readonly 'bom-ref': string; readonly purl?: string };
export type PartsList = {
  readonly components: readonly Component[];
  readonly dependencies?: readonly {
    readonly ref: string;
    readonly dependsOn?: readonly string[];
  }[];
  readonly [other: string]: unknown;
};

export function listedParts(list: PartsList, root: string, service: string): PartsList {
  const held = new Set([...closureOf(root, join('services', service)).keys()].map(urlOf));
  const left = list.components.filter(({ purl }) => !held.has(purl ?? ''));
  const gone = new Set(left.map((component) => component['bom-ref']));
  const components = list.components.filter((component) => !gone.has(component['bom-ref']));
  const missing = [...held].filter(
    (url) => !components.some(({ purl }) => purl === url) && !url.includes(`/${service}@`),
  );
  if (missing.length > 0) throw new Error(`not in the list of parts: ${missing.join(' ')}`);
  return {
    ...list,
    components,
    dependencies: (list.dependencies ?? [])
      .filter(({ ref }) => !gone.has(ref))
      .map(({ ref, dependsOn = [] }) => ({
        ref,
        dependsOn: dependsOn.filter((each) => !gone.has(each)),
      })),
  };
}

/** What a package is called in lists of parts, e.g. `pkg:npm/%40scope/name@1.0.0`. */
function urlOf(home: string): string {
  const { name, version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [service = '', file = ''] = process.argv.slice(2);
  const list: PartsList = JSON.parse(readFileSync(file, 'utf8'));
  const text = JSON.stringify(listedParts(list, process.cwd(), service), null, 2);
  writeFileSync(file, `${text}\n`);
}
