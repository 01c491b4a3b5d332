/**
 * A step of a schema: a file `NNNN-name.ts` that exports `migration`, or a value of the same shape. Steps only go
 * forward, each is applied once, and an applied one is never edited.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Knex } from 'knex';

export type Migration = {
  /** False if it runs outside a transaction (`CREATE INDEX CONCURRENTLY`). It must then be repeatable. */
  readonly transaction?: boolean;
  /**
   * The oldest version of Cardea that can work with the schema after this step. Undefined if the step does not change
   * it.
   */
  readonly minAppVersion?: string;
  readonly up: (knex: Knex) => Promise<void>;
};

/** A step that is code instead of a file. `source`, if given, is the text that must not change. */
export type NamedMigration = Migration & { readonly name: string; readonly source?: string };

export type MigrationSet = {
  readonly schema: string;
  /** Values, or the folder of `NNNN-name.ts` files. */
  readonly migrations: readonly NamedMigration[] | URL;
  /**
   * If true, the schema gets the tables that every service has. The default is true for the schema of a
   * service.
   */
  readonly serviceTables?: boolean;
};

export type Step = {
  readonly schema: string;
  readonly name: string;
  readonly sha256: string;
  readonly load: () => Promise<Migration>;
};

const FILE_NAME = /^(\d{4}-[a-z0-9-]+)\.ts$/;

/** The steps of a set in the order in which they are applied. */
export async function stepsOf(set: MigrationSet): Promise<readonly Step[]> {
  const steps =
    set.migrations instanceof URL
      ? await stepsOfFolder(set.schema, set.migrations)
      : set.migrations.map((migration) => stepOfValue(set.schema, migration));
  return steps.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export const stepOfValue = (schema: string, migration: NamedMigration): Step => ({
  schema,
  name: migration.name,
  // A function's own text depends on how TypeScript is run, so it is not hashed.
  sha256: sha256(migration.source ?? migration.name),
  load: async () => migration,
});

async function stepsOfFolder(schema: string, given: URL): Promise<readonly Step[]> {
  const folder = given.href.endsWith('/') ? given : new URL(`${given.href}/`);
  const names = (await readdir(folder).catch(ignoreMissing)).filter((name) => FILE_NAME.test(name));
  return await Promise.all(
    names.map(async (file) => {
      const url = new URL(file, folder);
      return {
        schema,
        name: file.replace(/\.ts$/, ''),
        sha256: sha256(await readFile(url, 'utf8')),
        load: async () => {
          const found = (await import(url.href)) as { migration?: Migration };
          if (found.migration === undefined) throw new Error(`${file} exports no migration.`);
          return found.migration;
        },
      };
    }),
  );
}

function ignoreMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []; // The service has no tables of its own.
  throw error;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
