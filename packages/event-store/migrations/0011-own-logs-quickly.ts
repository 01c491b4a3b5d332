/**
 * The check of the log that a login may write: by a function that is compiled once in a session, where an
 * expression is prepared for each statement; and on the streams alone, for each append begins with its stream.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const statement of [MAY_WRITE, CHECK]) await knex.raw(statement);
  },
};

const MAY_WRITE = `
CREATE FUNCTION eventstore.may_write(for_log smallint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN pg_catalog.pg_has_role(session_user, 'cardea_app', 'SET')
    OR coalesce(pg_catalog.pg_has_role(session_user, CASE for_log
         WHEN 1 THEN 'cardea_identity_app' WHEN 2 THEN 'cardea_authz_app' WHEN 3 THEN 'cardea_vault_app'
         WHEN 4 THEN 'cardea_approval_app' WHEN 5 THEN 'cardea_webhooks_app'
         WHEN 6 THEN 'cardea_audit_app' END, 'SET'), false);
END $$;
REVOKE ALL ON FUNCTION eventstore.may_write FROM PUBLIC`;

const CHECK = `
ALTER TABLE eventstore.events DROP CONSTRAINT own_log;
ALTER TABLE eventstore.streams DROP CONSTRAINT own_log,
  ADD CONSTRAINT own_log CHECK (eventstore.may_write(log)) NOT VALID`;
