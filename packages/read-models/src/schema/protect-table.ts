/**
 * Row-level security as a second protection. `cardea_app` sees and writes only rows of the tenant that its transaction
 * names, even in a query without a tenant filter. `cardea_system` sees all rows.
 */

import { APP_ROLE, SYSTEM_ROLE, TENANT_SETTING } from '@cardea/postgres';
import type { Knex } from 'knex';

export type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

const ALL: readonly Privilege[] = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Call it in a migration after CREATE TABLE. `table` is named with its schema: `identity.users`. */
export async function protectTable(
  knex: Knex,
  table: string,
  options: { readonly tenantColumn?: string; readonly app?: readonly Privilege[] } = {},
): Promise<void> {
  const { tenantColumn = 'tenant_id', app = ALL } = options;
  const type = await columnType(knex, table, tenantColumn);
  // After the end of a transaction the setting is an empty string, which not every type can parse.
  const mine = `${tenantColumn} = nullif(current_setting('${TENANT_SETTING}', true), '')::${type}`;
  await knex.raw(`
    ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY app_sees_its_tenant ON ${table} TO ${APP_ROLE} USING (${mine}) WITH CHECK (${mine});
    CREATE POLICY system_sees_all ON ${table} TO ${SYSTEM_ROLE} USING (true) WITH CHECK (true);
    REVOKE ALL ON ${table} FROM PUBLIC;
    GRANT ${ALL.join(', ')} ON ${table} TO ${SYSTEM_ROLE};
    ${app.length === 0 ? '' : `GRANT ${app.join(', ')} ON ${table} TO ${APP_ROLE};`}`);
}

async function columnType(knex: Knex, table: string, column: string): Promise<string> {
  const { rows } = await knex.raw<{ rows: readonly { type: string }[] }>(
    `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = ?::regclass AND attname = ? AND NOT attisdropped`,
    [table, column],
  );
  const type = rows[0]?.type;
  if (type === undefined) throw new Error(`Table ${table} has no column ${column}.`);
  return type;
}
