/**
 * A login of one service reads and writes the log of that service and no other one. Reading is limited by
 * row-level security for the two roles that such a login may take. The functions that write run as the owner
 * of the tables, whom row-level security does not limit; so each new row names a log that the login may write,
 * whichever function writes it.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const statement of [ROLES, READING, WRITING]) await knex.raw(statement);
  },
};

const LOGS = `(VALUES ('identity', 1), ('authz', 2), ('vault', 3), ('approval', 4), ('webhooks', 5),
  ('audit', 6)) AS own (service, log)`;

/** Roles belong to the whole cluster: another database's migration may make them at the same time. */
const ROLES = `
DO $$
DECLARE
  wanted text;
BEGIN
  FOR wanted IN
    SELECT format('cardea_%s_%s', service, kind) FROM ${LOGS}, unnest(ARRAY['app', 'system']) AS kind
  LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END LOOP;
END $$`;

const READING = `
DO $$
DECLARE
  place text;
  own record;
BEGIN
  FOREACH place IN ARRAY ARRAY['eventstore.events', 'eventstore.streams'] LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', place);
    EXECUTE format('CREATE POLICY every_log ON %s TO cardea_app, cardea_system USING (true)', place);
    FOR own IN SELECT * FROM ${LOGS} LOOP
      EXECUTE format(
        'CREATE POLICY own_log_%1$s ON %2$s FOR SELECT TO cardea_%1$s_app, cardea_%1$s_system'
        ' USING (log = %3$s::smallint)', own.service, place, own.log);
    END LOOP;
  END LOOP;
END $$`;

/**
 * By the login, which no statement can change. Whoever may become cardea_app may write all logs: the owner,
 * and the login of a process that runs all services.
 */
const MAY_WRITE = `
  pg_has_role(session_user, 'cardea_app', 'SET')
  OR coalesce(pg_has_role(session_user, CASE log
       WHEN 1 THEN 'cardea_identity_app' WHEN 2 THEN 'cardea_authz_app' WHEN 3 THEN 'cardea_vault_app'
       WHEN 4 THEN 'cardea_approval_app' WHEN 5 THEN 'cardea_webhooks_app' WHEN 6 THEN 'cardea_audit_app'
     END, 'SET'), false)`;

/** Rows that are there already were written by logins that might write all logs. */
const WRITING = ['eventstore.events', 'eventstore.streams']
  .map((place) => `ALTER TABLE ${place} ADD CONSTRAINT own_log CHECK (${MAY_WRITE}) NOT VALID`)
  .join(';\n');
