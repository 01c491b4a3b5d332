/** backup-restore: restores a backup of a million events. Afterwards each table has the same bytes as before. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bench, BenchContext, Row } from '../harness.ts';
import { CARDEA, dataFolder, eventsOf, fill, withClient } from '../subjects/backup-database.ts';

export const benches: readonly Bench[] = [
  {
    id: 'backup-restore',
    title: 'a backup of a million events, restored',
    isLong: true,
    run: restores,
  },
];

async function restores(context: BenchContext): Promise<readonly Row[]> {
  const original = await context.database();
  await fill(original, eventsOf(context));
  const restored = await emptyBeside(original);
  const folder = dataFolder(context);
  const cardea = async (url: string, ...words: readonly string[]): Promise<void> => {
    const began = performance.now();
    await promisify(execFile)(process.execPath, [CARDEA, ...words, '--data', folder], {
      env: { ...process.env, DATABASE_URL: url },
    });
    const [command] = words;
    console.log(`  cardea ${command}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  };
  const out = join(folder, 'backup');
  await withClient(original, (client) => client.query(READ_TO_THE_END));
  await cardea(original, 'projections', 'rebuild', '--all');
  await cardea(original, 'backup', '--out', out);
  await cardea(restored, 'restore', '--in', out);
  const [before, after] = await Promise.all([original, restored].map(contentOf));
  const tables = [...(before ?? [])];
  const differing = tables.filter(([name, content]) => after?.get(name)?.sha256 !== content.sha256);
  if (tables.length !== after?.size || differing.length > 0) {
    throw new Error(`not restored as they were: ${differing.map(([name]) => name).join(', ')}`);
  }
  const filled = tables.filter(([, { rows }]) => rows > 0);
  const total = filled.reduce((sum, [, { rows }]) => sum + rows, 0);
  for (const [name, { rows }] of filled) console.log(`  ${name}: ${rows} rows`);
  console.log(`  restored: ${tables.length} tables, ${total} rows, byte-equal`);
  return [];
}

/**
 * Sets the checkpoints to the end of the log. No process has built read models here, and a rebuild ends at their
 * checkpoints.
 */
const READ_TO_THE_END = `
  INSERT INTO authz.projection_checkpoints (name, position)
  SELECT name, (SELECT max(position) FROM eventstore.events)
  FROM unnest(ARRAY['tuples', 'tuple_spans']) AS name
  ON CONFLICT (name) DO UPDATE SET position = excluded.position`;

async function emptyBeside(url: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await withClient(url, (client) => client.query(`CREATE DATABASE ${name}`));
  const beside = new URL(url);
  beside.pathname = `/${name}`;
  return beside.href;
}

type Content = { readonly rows: number; readonly sha256: string };

/** The hash of the sorted hashes of each table's rows as text. */
function contentOf(url: string): Promise<ReadonlyMap<string, Content>> {
  return withClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(TABLES);
    const found = new Map<string, Content>();
    for (const { name } of tables) {
      const { rows } = await client.query<Content>(contentQuery(name));
      if (rows[0] !== undefined) found.set(name, rows[0]);
    }
    return found;
  });
}

/**
 * Excludes the tables that a restore writes itself: positions of relays, consumers and projections, and
 * migrations.
 */
const TABLES = `
  SELECT c.oid::regclass::text AS name
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND n.nspname !~ '^pg_|^information_schema$'
    AND c.relname !~ 'schema_migrations|_checkpoints$|consumer_positions|log_epoch'
  ORDER BY 1`;

const contentQuery = (table: string): string => `
  SELECT count(*)::int AS rows,
    encode(sha256(coalesce(string_agg(row_hash, ''::bytea ORDER BY row_hash), '')), 'hex') AS sha256
  FROM (SELECT sha256(convert_to(each::text, 'UTF8')) AS row_hash FROM ${table} AS each) AS hashed`;
