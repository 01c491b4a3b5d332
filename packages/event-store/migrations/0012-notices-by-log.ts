/**
 * Each log has a channel of its own, so that a notice reaches those that follow the log and no other process.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    await knex.raw(APPENDS);
  },
};

/** Changes that one line of the functions of migrations 0003 and 0004, whose form and grants stay. */
const APPENDS = `
DO $$
DECLARE
  made text;
  changed text;
BEGIN
  FOR made IN
    SELECT pg_get_functiondef(p.oid) FROM pg_proc p
     WHERE p.pronamespace = 'eventstore'::regnamespace AND p.proname IN ('append_batch', 'append_event')
  LOOP
    changed := replace(made, 'pg_notify(''cardea_events'', for_log::text)',
      'pg_notify(''cardea_events_'' || for_log, for_log::text)');
    IF changed = made THEN RAISE EXCEPTION 'a function that appends tells nobody'; END IF;
    EXECUTE changed;
  END LOOP;
END $$`;
