/** Builds SQL whose filters depend on the request, with knex as a builder only. It has no connection. */
import createKnex, { type Knex } from 'knex';

const knex = createKnex({ client: 'pg', compileSqlOnError: false });

/**
 * Example: `const { text, values } = build((query) => query('audit.events').where({ … })); sql.query(text, values)`.
 */
export function build(make: (query: Knex) => Knex.QueryBuilder | Knex.Raw): {
  readonly text: string;
  readonly values: readonly unknown[];
} {
  const { sql, bindings } = make(knex).toSQL().toNative();
  return { text: sql, values: bindings };
}
