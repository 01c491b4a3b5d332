/**
 * Bundles programs that tests start, with all of our code and the libraries that consist of very many files. The other
 * libraries are loaded from where they are installed. Each module keeps the `import.meta.url` of its source, so that it
 * finds its migrations, workers and other files.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

/** These libraries are ES modules of 1,000 files in total. */
const BUNDLED_LIBRARIES = /\/node_modules\/(typebox|oidc-provider|jose|@opentelemetry\/api)\//;
const LIBRARY = '/node_modules/';

/** Writes the bundles into the folder, and the list for `programOf`. Returns the path of the list. */
export async function bundlePrograms(folder: string, sources: readonly string[]): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    input: Object.fromEntries(sources.map((source) => [nameOf(source), resolve(source)])),
    platform: 'node',
    plugins: [ownPlaces],
    // No unused code is removed, because loading a module may have effects.
    treeshake: false,
    logLevel: 'warn',
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[hash].mjs',
  });
  await bundle.close();
  const list = join(folder, 'programs.json');
  const bundles = sources.map((source) => [resolve(source), join(folder, `${nameOf(source)}.mjs`)]);
  writeFileSync(list, JSON.stringify(Object.fromEntries(bundles)));
  return list;
}

const nameOf = (source: string): string => source.replaceAll(/[^\w]+/g, '-');

const ownPlaces: Plugin = {
  name: 'own-places',
  async resolveId(specifier, importer, options) {
    if (importer === undefined) return null;
    const found = await this.resolve(specifier, importer, { ...options, skipSelf: true });
    if (found === null || !found.id.includes(LIBRARY)) return found;
    return BUNDLED_LIBRARIES.test(found.id) ? found : { ...found, external: true };
  },
  transform(code, id) {
    if (!code.includes('import.meta')) return null;
    const places = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id };
    return Object.entries(places).reduce(
      (text, [name, place]) => text.replaceAll(`import.meta.${name}`, JSON.stringify(place)),
      code,
    );
  },
};
