/**
 * All work at run time uses two roles: `cardea_app` sees one tenant at a time, `cardea_system` all. Both
 * own nothing, cannot log in and cannot bypass row-level security; the login user may only switch to them.
 */
import type { Knex } from 'knex';

export const APP_ROLE = 'cardea_app';
export const SYSTEM_ROLE = 'cardea_system';

/** The setting of a transaction that names the tenant whose rows `cardea_app` sees. */
export const TENANT_SETTING = 'cardea.tenant';

/** Roles belong to the whole server: another database's migration may create them at the same time. */
export async function makeRoles(knex: Knex, loginUsers: readonly string[]): Promise<void> {
  for (const role of [APP_ROLE, SYSTEM_ROLE]) {
    await knex.raw(`
      DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN
          CREATE ROLE ${role} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
        END IF;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END $$`);
    for (const user of loginUsers) await letBecome(knex, role, user);
  }
}

/** Without inheritance: a connection that did not switch to a role has only the login user's own rights. */
async function letBecome(knex: Knex, role: string, user: string): Promise<void> {
  await knex.raw(`
    DO $$ BEGIN
      IF NOT EXISTS (
        SELECT FROM pg_auth_members m
        WHERE m.roleid = '${role}'::regrole AND m.member = ${roleNamed(user)} AND m.set_option
      ) THEN
        EXECUTE format('GRANT ${role} TO %s WITH INHERIT FALSE, SET TRUE', ${roleNamed(user)});
      END IF;
    EXCEPTION WHEN internal_error OR unique_violation THEN NULL; -- another database was faster
    END $$`);
}

const roleNamed = (user: string): string => `quote_ident('${user.replaceAll("'", "''")}')::regrole`;
