/**
 * Creates the roles of all processes. None of them owns anything, can log in or bypass row-level security. A login may
 * only switch to them.
 */
import { SERVICE_NAMES } from '@cardea/contracts';
import { APP_ROLE, rolesOf } from '@cardea/postgres';
import type { Knex } from 'knex';

const ALL_ROLES: readonly string[] = [undefined, ...SERVICE_NAMES]
  .map((service) => rolesOf(service))
  .flatMap(({ app, system }) => [app, system]);

/** Roles belong to the whole server, so another database's migration may create them at the same time. */
export async function makeRoles(knex: Knex, loginUsers: readonly string[]): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE wanted text;
    BEGIN
      FOREACH wanted IN ARRAY ${textArray(ALL_ROLES)} LOOP
        BEGIN
          IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format(
              'CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', wanted);
          END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END;
      END LOOP;
    END $$`);
  for (const user of loginUsers) {
    if (!(await isLoginOfOneService(knex, user))) await letBecome(knex, user, ALL_ROLES);
  }
}

/** Without inheritance, a connection that did not switch to a role has only the login user's own rights. */
export async function letBecome(
  knex: Pick<Knex, 'raw'>,
  user: string,
  roles: readonly string[],
): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE wanted text;
    BEGIN
      FOREACH wanted IN ARRAY ${textArray(roles)} LOOP
        BEGIN
          IF NOT EXISTS (
            SELECT FROM pg_auth_members m
            WHERE m.roleid = wanted::regrole AND m.member = ${roleNamed(user)} AND m.set_option
          ) THEN
            EXECUTE format('GRANT %I TO %s WITH INHERIT FALSE, SET TRUE', wanted, ${roleNamed(user)});
          END IF;
        EXCEPTION WHEN internal_error OR unique_violation THEN NULL; -- another database was faster
        END;
      END LOOP;
    END $$`);
}

/** This login belongs to one service, so a migration of that service grants it nothing more. */
async function isLoginOfOneService(knex: Knex, user: string): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: readonly { roles: readonly string[] }[] }>(
    `SELECT coalesce(array_agg(roleid::regrole::text), '{}') AS roles FROM pg_auth_members
     WHERE member = ${roleNamed(user)}`,
  );
  const roles = rows[0]?.roles ?? [];
  return roles.some((role) => ALL_ROLES.includes(role)) && !roles.includes(APP_ROLE);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const textArray = (texts: readonly string[]): string => `ARRAY[${texts.map(quoted).join(', ')}]`;
const roleNamed = (user: string): string => `quote_ident(${quoted(user)})::regrole`;
