/**
 * Creates a table in another schema that equals the original in everything but its rows: columns, defaults,
 * constraints and indexes by their names, row-level security, triggers and grants.
 */
import type { Queryable } from '@cardea/postgres';

export type TableLocation = { readonly schema: string; readonly name: string };

export async function cloneTable(
  sql: Queryable,
  { schema, name }: TableLocation,
  into: string,
): Promise<void> {
  const [model, clone] = [`${schema}.${name}`, `${into}.${name}`];
  const { rows } = await sql.query<{ partitioned: boolean; key: string | null }>(
    `SELECT relkind = 'p' AS partitioned, pg_get_partkeydef(oid) AS key
     FROM pg_class WHERE oid = $1::regclass`,
    [model],
  );
  const [kind] = rows;
  await sql.query(
    `CREATE TABLE ${clone} (LIKE ${model} INCLUDING ALL EXCLUDING INDEXES)
     ${kind?.partitioned ? `PARTITION BY ${kind.key}` : ''}`,
  );
  const steps = [
    ...(await options(sql, model)),
    ...(await constraints(sql, model)),
    ...(await indexes(sql, { schema, name })),
    ...(await triggers(sql, model)),
    ...(await policies(sql, { schema, name })),
    ...(await grants(sql, model)),
  ];
  for (const step of steps) await sql.query(step.replaceAll(MODEL, clone));
}

/** Placeholder for the clone's name until the step runs. */
const MODEL = '@TABLE@';

async function column(sql: Queryable, text: string, values: readonly unknown[]): Promise<string[]> {
  const { rows } = await sql.query<{ step: string }>(text, values);
  return rows.map((row) => row.step);
}

const options = (sql: Queryable, model: string): Promise<string[]> =>
  column(
    sql,
    `SELECT format('ALTER TABLE ${MODEL} SET (%s)', array_to_string(reloptions, ', ')) AS step
     FROM pg_class WHERE oid = $1::regclass AND reloptions IS NOT NULL`,
    [model],
  );

/** LIKE copies CHECK and NOT NULL constraints. */
const constraints = (sql: Queryable, model: string): Promise<string[]> =>
  column(
    sql,
    `SELECT format('ALTER TABLE ${MODEL} ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) AS step
     FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u', 'x', 'f')
     ORDER BY contype = 'f', conname`,
    [model],
  );

/**
 * Indexes that do not belong to a constraint. A schema is part of an index's name, so the clone's index may have the
 * same name.
 */
const indexes = (sql: Queryable, { schema, name }: TableLocation): Promise<string[]> =>
  column(
    sql,
    `SELECT replace(replace(pg_get_indexdef(i.indexrelid), format(' ON ONLY %I.%I ', $1::text, $2::text),
       ' ON ${MODEL} '), format(' ON %I.%I ', $1::text, $2::text), ' ON ${MODEL} ') AS step
     FROM pg_index i
     WHERE i.indrelid = format('%I.%I', $1::text, $2::text)::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
     ORDER BY i.indexrelid`,
    [schema, name],
  );

const triggers = (sql: Queryable, model: string): Promise<string[]> =>
  column(
    sql,
    `SELECT regexp_replace(pg_get_triggerdef(oid), ' ON \\S+ ', ' ON ${MODEL} ') AS step
     FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal`,
    [model],
  );

const policies = (sql: Queryable, { schema, name }: TableLocation): Promise<string[]> =>
  column(
    sql,
    `SELECT 'ALTER TABLE ${MODEL} ENABLE ROW LEVEL SECURITY' AS step FROM pg_class
       WHERE oid = format('%I.%I', $1::text, $2::text)::regclass AND relrowsecurity
     UNION ALL
     SELECT 'ALTER TABLE ${MODEL} FORCE ROW LEVEL SECURITY' FROM pg_class
       WHERE oid = format('%I.%I', $1::text, $2::text)::regclass AND relforcerowsecurity
     UNION ALL
     SELECT format('CREATE POLICY %I ON ${MODEL} AS %s FOR %s TO %s', policyname, permissive, cmd,
       (SELECT string_agg(quote_ident(role), ', ') FROM unnest(roles) AS role))
       || coalesce(format(' USING (%s)', qual), '')
       || coalesce(format(' WITH CHECK (%s)', with_check), '')
     FROM pg_policies WHERE schemaname = $1 AND tablename = $2`,
    [schema, name],
  );

const grants = (sql: Queryable, model: string): Promise<string[]> =>
  column(
    sql,
    `SELECT format('GRANT %s ON ${MODEL} TO %s', a.privilege_type,
       CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END) AS step
     FROM pg_class c, aclexplode(c.relacl) AS a
     WHERE c.oid = $1::regclass AND a.grantee <> c.relowner`,
    [model],
  );
