/**
 * The webhook dispatcher compares the ends of other services' logs with the positions of their events. It
 * learns nothing else of those logs, and no other service learns so much.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    await knex.raw(END_OF_LOG);
  },
};

/**
 * Runs as the owner of the tables, whom row-level security does not limit. Null to roles that may not know:
 * a session can only set a role of which its login is a member.
 */
const END_OF_LOG = `
CREATE FUNCTION eventstore.end_of_log(of_log smallint) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_setting('role') NOT IN
      ('cardea_app', 'cardea_system', 'cardea_webhooks_app', 'cardea_webhooks_system') THEN
    RETURN NULL;
  END IF;
  RETURN coalesce((SELECT max(e.position) FROM eventstore.events e WHERE e.log = of_log), 0);
END $$;
REVOKE ALL ON FUNCTION eventstore.end_of_log FROM PUBLIC;
GRANT EXECUTE ON FUNCTION eventstore.end_of_log TO cardea_app, cardea_system;
DO $$
DECLARE
  service text;
BEGIN
  FOREACH service IN ARRAY ARRAY['identity', 'authz', 'vault', 'approval', 'webhooks', 'audit'] LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION eventstore.end_of_log TO cardea_%1$s_app, cardea_%1$s_system',
      service);
  END LOOP;
END $$`;
