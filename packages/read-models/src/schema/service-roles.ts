/**
 * Gives the roles of single services the rights of `cardea_app` and `cardea_system` in the schema of the service and in
 * the shared schemas, where row-level security limits the rows. Migrations name only those two roles. After each run of
 * them this function adjusts the rights in both directions.
 */
import { SERVICE_NAMES } from '@cardea/contracts';
import { APP_ROLE, rolesOf, SYSTEM_ROLE } from '@cardea/postgres';
import type { Knex } from 'knex';
import { letBecome } from './roles.ts';

const LOCK_NOT_AVAILABLE = '55P03';
const TRIES_MAX = 3;

/** `schema` is a service's, or shared by all of them. Any other schema is left unchanged. */
export async function levelServiceRoles(knex: Knex, schema: string, shared: readonly string[]) {
  const services = SERVICE_NAMES.filter((name) => name === schema || shared.includes(schema));
  if (services.length === 0) return;
  const copies = services.flatMap((name) => {
    const { app, system } = rolesOf(name);
    return [
      { model: APP_ROLE, copy: app },
      { model: SYSTEM_ROLE, copy: system },
    ];
  });
  const pairs = copies.map(({ model, copy }) => `('${model}', '${copy}')`).join(', ');
  const steps = await stepsIn(knex, grantSteps(schema, pairs));
  if (steps.length > 0) await knex.raw(steps.join(';\n'));
  if (shared.includes(schema)) return;
  for (const { role, user } of await membershipsIn(knex, schema, pairs)) {
    await letBecome(knex, user, [role]);
  }
  // One by one, because each waits until nobody uses its table.
  for (const step of await stepsIn(knex, policySteps(schema, pairs))) await withRetry(knex, step);
}

async function stepsIn(knex: Knex, text: string): Promise<readonly string[]> {
  const { rows } = await knex.raw<{ rows: readonly { step: string }[] }>(text);
  return rows.map(({ step }) => step);
}

async function withRetry(knex: Knex, step: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await knex.raw(step);
      return;
    } catch (error) {
      const isBusy = (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
      if (!isBusy || tries === TRIES_MAX) throw error;
    }
  }
}

const grantSteps = (schema: string, pairs: string): string => `
  WITH pairs AS (
    SELECT model::regrole::oid AS model, copy::regrole::oid AS copy FROM (VALUES ${pairs}) AS p (model, copy)
  ), objects (object, part, acl) AS (
    SELECT format('SCHEMA %I', nspname), '', nspacl FROM pg_namespace WHERE nspname = '${schema}'
    UNION ALL
    SELECT format('%s %s', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass), '', relacl
      FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
    UNION ALL
    SELECT format('TABLE %s', c.oid::regclass), format(' (%I)', a.attname), a.attacl
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = '${schema}'::regnamespace AND a.attacl IS NOT NULL
    UNION ALL
    SELECT format('FUNCTION %s', oid::regprocedure), '', proacl
      FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace
  ), granted AS (
    SELECT object, part, a.privilege_type, a.grantee FROM objects, aclexplode(acl) AS a
  ), wanted AS (
    SELECT object, part, privilege_type, copy FROM granted JOIN pairs ON grantee = model
  ), present AS (
    SELECT object, part, privilege_type, copy FROM granted JOIN pairs ON grantee = copy
  )
  SELECT format('GRANT %s ON %s TO %s',
           string_agg(privilege_type || part, ', '), object, copy::regrole) AS step
    FROM (TABLE wanted EXCEPT TABLE present) AS missing GROUP BY object, copy
  UNION ALL
  SELECT format('REVOKE %s ON %s FROM %s',
           string_agg(privilege_type || part, ', '), object, copy::regrole)
    FROM (TABLE present EXCEPT TABLE wanted) AS surplus GROUP BY object, copy`;

const policySteps = (schema: string, pairs: string): string => `
  WITH pairs AS (
    SELECT model::regrole::oid AS model, copy::regrole::oid AS copy FROM (VALUES ${pairs}) AS p (model, copy)
  ), wanted AS (
    SELECT p.polname, p.polrelid, p.polroles, p.polroles || array_agg(copy) AS roles
      FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pairs ON model = ANY (p.polroles)
     WHERE c.relnamespace = '${schema}'::regnamespace AND copy <> ALL (p.polroles)
     GROUP BY p.polname, p.polrelid, p.polroles
  )
  SELECT format('ALTER POLICY %I ON %s TO %s', polname, polrelid::regclass,
           (SELECT string_agg(role::regrole::text, ', ') FROM unnest(roles) AS role)) AS step
    FROM wanted`;

/** Other roles of the schema that a service role may switch to, such as the one that removes old audit rows. */
async function membershipsIn(knex: Knex, schema: string, pairs: string) {
  const { rows } = await knex.raw<{ rows: readonly { role: string; user: string }[] }>(`
    SELECT m.roleid::regrole::text AS role, p.copy AS user
      FROM pg_auth_members m JOIN (VALUES ${pairs}) AS p (model, copy) ON m.member = p.model::regrole
     WHERE m.set_option AND EXISTS (
       SELECT FROM pg_namespace n, aclexplode(n.nspacl) AS a
        WHERE n.nspname = '${schema}' AND a.grantee = m.roleid)`);
  return rows;
}
