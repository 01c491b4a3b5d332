/** Every row of every table as text, which is what a thief of the database has. */
import { Client, escapeIdentifier } from 'pg';
import type { Location } from './search.ts';

export async function dumpOf(connectionString: string): Promise<readonly Location[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ schema: string; name: string }>(
      `SELECT schemaname AS schema, tablename AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const places: Location[] = [];
    for (const { schema, name } of tables) {
      const table = `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t`);
      places.push({ name: `table ${schema}.${name}`, text: rows.map(({ row }) => row).join('\n') });
    }
    return places;
  } finally {
    await client.end();
  }
}
