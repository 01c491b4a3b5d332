import type { Queryable } from '@cardea/postgres';
import type { Client } from 'pg';

/** A driver's connection in the interface that other code uses. */
export const asQueryable = (client: Client): Queryable => ({
  query: async (sql, values) => {
    const named = typeof sql === 'string' ? { text: sql } : sql;
    const { rows, rowCount } = await client.query({ ...named, values: values as unknown[] });
    return { rows, rowCount: rowCount ?? 0 };
  },
});
