/**
 * Copies whole tables as text, by COPY: out of one snapshot while all services run, and into the tables of a freshly
 * migrated database, all in one transaction.
 */
import type { Readable, Writable } from 'node:stream';
import type { Queryable } from '@cardea/postgres';
import { SYSTEM_ROLE } from '@cardea/postgres';
import { Client } from 'pg';
import { from } from 'pg-copy-streams';
import { asQueryable } from '../database/owner-client.ts';
import { CopyOut } from './copy-out.ts';

export type CopiedTable = {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  /** The days that have a partition, `YYYY-MM-DD`, if the table is partitioned by days. */
  readonly days: readonly string[];
};

/** A range of blocks of a table, without `to`; if `to` is missing, up to the end. */
export type BlockRange = { readonly from: number; readonly to?: number };

export type TableSnapshot = Queryable & {
  /** Every table of these schemas. A partitioned one is listed once. */
  tables(schemas: readonly string[]): Promise<readonly CopiedTable[]>;
  /** The number of blocks; 0 for a partitioned table. */
  blocksOf(table: CopiedTable): Promise<number>;
  /**
   * Its rows, in pages that the caller releases. `rowCount` has their number after it has ended. Only one copy at a
   * time.
   */
  copyOut(table: CopiedTable, blocks?: BlockRange): Readable & { readonly rowCount: number };
  /** Opens another connection on the same snapshot, so that both can read at the same time. */
  beside(): Promise<TableSnapshot>;
  close(): Promise<void>;
};

/** All tables are read as of one point in time, even if rows change during the copy. */
export const openSnapshot = (connectionString: string): Promise<TableSnapshot> =>
  snapshotOf(connectionString);

async function snapshotOf(connectionString: string, exported?: string): Promise<TableSnapshot> {
  const client = await connected(connectionString, { role: SYSTEM_ROLE });
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  if (exported !== undefined) {
    await client.query(`SET TRANSACTION SNAPSHOT ${client.escapeLiteral(exported)}`);
  }
  return {
    ...asQueryable(client),
    tables: async (schemas) => {
      const { rows } = await client.query<CopiedTable>(TABLES, [schemas]);
      return rows;
    },
    blocksOf: async (table) => {
      const { rows } = await client.query<{ blocks: number }>(BLOCKS, [nameOf(table)]);
      return rows[0]?.blocks ?? 0;
    },
    // Read by a query, because COPY of a partitioned table itself would copy nothing.
    copyOut: (table, blocks) => {
      const rows = `SELECT ${columnsOf(table)} FROM ${nameOf(table)}${within(blocks)}`;
      return client.query(new CopyOut(`COPY (${rows}) TO STDOUT`));
    },
    beside: async () => {
      const { rows } = await client.query<{ id: string }>('SELECT pg_export_snapshot() AS id');
      return snapshotOf(connectionString, rows[0]?.id);
    },
    close: () => client.end(),
  };
}

function within(blocks: BlockRange | undefined): string {
  if (blocks === undefined) return '';
  const { from: first, to } = blocks;
  return ` WHERE ctid >= '(${first},0)'${to === undefined ? '' : ` AND ctid < '(${to},0)'`}`;
}

export type TableLoad = Queryable & {
  /** Call it once: removes rows that migrations inserted, and lets the owner write in spite of row-level security. */
  prepare(table: CopiedTable): Promise<void>;
  copyIn(table: CopiedTable): Writable & { readonly rowCount: number };
  commit(): Promise<void>;
  close(): Promise<void>;
};

/** Loads tables as the owner, in one transaction. Its rows become visible at {@link TableLoad.commit}. */
export async function openLoad(connectionString: string): Promise<TableLoad> {
  const client = await connected(connectionString);
  const forced = new Set<string>();
  const prepared = new Set<string>();
  await client.query('BEGIN');
  return {
    ...asQueryable(client),
    prepare: async (table) => {
      const name = nameOf(table);
      if (prepared.has(name)) return;
      prepared.add(name);
      const { rows } = await client.query<{ forced: boolean }>(
        'SELECT relforcerowsecurity AS forced FROM pg_class WHERE oid = $1::regclass',
        [name],
      );
      if (rows[0]?.forced === true) {
        forced.add(name);
        await client.query(`ALTER TABLE ${name} NO FORCE ROW LEVEL SECURITY`);
      }
      const { rowCount } = await client.query(`SELECT FROM ${name} LIMIT 1`);
      if (rowCount !== 0) await client.query(`DELETE FROM ${name}`);
      for (const day of table.days) {
        await client.query(`SELECT ${escaped(table.schema)}.make_partition($1::date)`, [day]);
      }
    },
    copyIn: (table) => client.query(from(`COPY ${nameOf(table)} (${columnsOf(table)}) FROM STDIN`)),
    commit: async () => {
      for (const name of forced) {
        await client.query(`ALTER TABLE ${name} FORCE ROW LEVEL SECURITY`);
      }
      await client.query('COMMIT');
    },
    close: () => client.end(),
  };
}

/** A connection of the owner without a transaction. */
export async function asOwner<T>(
  connectionString: string,
  work: (owner: Queryable) => Promise<T>,
): Promise<T> {
  const client = await connected(connectionString);
  try {
    return await work(asQueryable(client));
  } finally {
    await client.end();
  }
}

async function connected(
  connectionString: string,
  { role }: { readonly role?: string } = {},
): Promise<Client> {
  const client = new Client({
    connectionString,
    application_name: 'cardea-backup',
    ...(role === undefined ? {} : { options: `-c role=${role}` }),
  });
  client.on('error', () => {}); // The next statement fails and reports the error.
  await client.connect();
  return client;
}

const escaped = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`;
const nameOf = ({ schema, name }: CopiedTable): string => `${escaped(schema)}.${escaped(name)}`;
const columnsOf = ({ columns }: CopiedTable): string => columns.map(escaped).join(', ');

/** A partition of a day is named `<table>_YYYYMMDD`. */
const TABLES = `
  SELECT n.nspname AS schema, c.relname AS name,
    (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute AS a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
    coalesce((SELECT array_agg(to_date(right(p.relname, 8), 'YYYYMMDD')::text ORDER BY p.relname)
     FROM pg_inherits AS i JOIN pg_class AS p ON p.oid = i.inhrelid
     WHERE i.inhparent = c.oid), '{}') AS days
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  ORDER BY n.nspname, c.relname`;
const BLOCKS = `
  SELECT (pg_relation_size($1::regclass) / current_setting('block_size')::int)::int AS blocks`;
