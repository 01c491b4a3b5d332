/** OpenFGA's public sample stores, downloaded once into the repository's cache folder. None of them is committed. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parse } from 'yaml';

const COMMIT = 'c310a118f28e7433acfd9501c6db9d6ae69bf058';
const ARCHIVE = `https://github.com/openfga/sample-stores/archive/${COMMIT}.tar.gz`;
const FOLDER = join('.cache/openfga-sample-stores', COMMIT);
const FETCH_MS = 20_000;

export type Tuple = { readonly user: string; readonly relation: string; readonly object: string };
export type UserFilter = { readonly type: string; readonly relation?: string };
export type StoreTest = {
  readonly name?: string;
  readonly tuples?: readonly Tuple[];
  readonly check?: readonly {
    readonly user?: string;
    readonly users?: readonly string[];
    readonly object?: string;
    readonly objects?: readonly string[];
    readonly assertions: { readonly [relation: string]: boolean };
  }[];
  readonly list_objects?: readonly {
    readonly user: string;
    readonly type: string;
    readonly assertions: { readonly [relation: string]: readonly string[] | null };
  }[];
  readonly list_users?: readonly {
    readonly object: string;
    readonly user_filter: readonly UserFilter[];
    readonly assertions: {
      readonly [relation: string]: { readonly users: readonly string[] | null };
    };
  }[];
};
export type SampleStore = {
  readonly name: string;
  readonly model: string;
  readonly tuples: readonly Tuple[];
  readonly tests: readonly StoreTest[];
};

/** All stores whose model is one file, or why there are none. */
export async function sampleStores(): Promise<
  readonly SampleStore[] | { readonly missing: string }
> {
  if (!existsSync(FOLDER)) {
    const missing = await fetchStores().catch(
      (error: unknown) => `no sample stores: ${String(error)}`,
    );
    if (missing !== undefined) return { missing };
  }
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.fga.yaml'))
    .toSorted()
    .flatMap((file) => storeIn(join(FOLDER, file)));
}

async function fetchStores(): Promise<string | undefined> {
  const answer = await fetch(ARCHIVE, { signal: AbortSignal.timeout(FETCH_MS) });
  if (!answer.ok) return `no sample stores: ${answer.status}`;
  const partial = `${FOLDER}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'archive.tar.gz'), Buffer.from(await answer.arrayBuffer()));
  execFileSync('tar', ['-xzf', 'archive.tar.gz', '--strip-components=1'], { cwd: partial });
  renameSync(partial, FOLDER);
  return undefined;
}

/** Modular samples consist of several files, which the importer does not support. */
function storeIn(path: string): SampleStore[] {
  const store = parse(readFileSync(path, 'utf8'));
  const beside = (file: string): string => readFileSync(join(dirname(path), file), 'utf8');
  const model: string | undefined = store.model ?? (store.model_file && beside(store.model_file));
  if (model === undefined || store.tuple_file !== undefined || store.model_file?.endsWith('.mod'))
    return [];
  return [
    { name: relative(FOLDER, path), model, tuples: store.tuples ?? [], tests: store.tests ?? [] },
  ];
}
