import type { Client } from 'pg';
import type { Queryable } from './database.ts';

/** A driver's connection as what the rest of the code takes. */
export const asQueryable = (client: Client): Queryable => ({
  query: async (sql, values) => {
    const named = typeof sql === 'string' ? { text: sql } : sql;
    const { rows, rowCount } = await client.query({ ...named, values: values as unknown[] });
    return { rows, rowCount: rowCount ?? 0 };
  },
});
