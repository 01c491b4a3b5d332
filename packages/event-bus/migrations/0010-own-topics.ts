/**
 * A login of one service publishes to the topics of that service, its dead letters included, and reads those
 * and the topics of the services that it listens to. Whoever may become cardea_system comes to all of them.
 */
export const migration = {
  up: async (knex: { raw(sql: string): PromiseLike<unknown> }): Promise<void> => {
    for (const statement of [ROLES, ALL_TOPICS, OWN_TOPICS]) await knex.raw(statement);
  },
};

/** The service, and whose topics it reads beside its own. */
const READERS = `(VALUES ('identity', '{}'), ('authz', '{identity}'), ('vault', '{identity,approval}'),
  ('approval', '{identity}'), ('webhooks', '{identity,vault,approval}'),
  ('audit', '{identity,authz,vault,approval,webhooks}')) AS own (service, sources)`;

/** Roles belong to the whole cluster: another database's migration may make them at the same time. */
const ROLES = `
DO $$
DECLARE
  wanted text;
BEGIN
  FOR wanted IN SELECT format('cardea_%s_system', service) FROM ${READERS} LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
    END;
  END LOOP;
END $$`;

const ALL_TOPICS = ['partitions', 'records', 'relay_checkpoints', 'members']
  .map(
    (table) => `ALTER TABLE bus.${table} ENABLE ROW LEVEL SECURITY;
  CREATE POLICY everything ON bus.${table} TO cardea_system USING (true) WITH CHECK (true)`,
  )
  .join(';\n');

const OWN_TOPICS = `
DO $$
DECLARE
  own record;
  role text;
  written text;
  passing text; -- the tree heads of the audit log are kept for ever
  read text;
  logs text;
BEGIN
  FOR own IN SELECT * FROM ${READERS} LOOP
    role := format('cardea_%s_system', own.service);
    written := format('topic IN (%L, %L, %L)', format('cardea.%s.events.v1', own.service),
      format('cardea.%s.dlq.v1', own.service), format('cardea.%s.checkpoints.v1', own.service));
    passing := format('topic IN (%L, %L)', format('cardea.%s.events.v1', own.service),
      format('cardea.%s.dlq.v1', own.service));
    logs := (SELECT string_agg(quote_literal(log), ', ')
               FROM unnest(own.sources::text[] || own.service) AS log);
    read := format('%s OR topic IN (%s)', written,
      (SELECT string_agg(quote_literal(format('cardea.%s.events.v1', log)), ', ')
         FROM unnest(own.sources::text[] || own.service) AS log));

    EXECUTE format('CREATE POLICY reads_%s ON bus.records FOR SELECT TO %I USING (%s)',
      own.service, role, read);
    EXECUTE format('CREATE POLICY sends_%s ON bus.records FOR INSERT TO %I WITH CHECK (%s)',
      own.service, role, written);
    EXECUTE format('CREATE POLICY forgets_%s ON bus.records FOR DELETE TO %I USING (%s)',
      own.service, role, passing);
    EXECUTE format('CREATE POLICY reads_%s ON bus.partitions FOR SELECT TO %I USING (%s)',
      own.service, role, read);
    EXECUTE format('CREATE POLICY sends_%s ON bus.partitions FOR INSERT TO %I WITH CHECK (%s)',
      own.service, role, written);
    EXECUTE format('CREATE POLICY advances_%s ON bus.partitions FOR UPDATE TO %I USING (%s)',
      own.service, role, written);
    EXECUTE format('CREATE POLICY reads_%s ON bus.relay_checkpoints FOR SELECT TO %I USING (log IN (%s))',
      own.service, role, logs);
    EXECUTE format('CREATE POLICY begins_%s ON bus.relay_checkpoints FOR INSERT TO %I WITH CHECK (log = %L)',
      own.service, role, own.service);
    EXECUTE format('CREATE POLICY moves_%s ON bus.relay_checkpoints FOR UPDATE TO %I USING (log = %L)',
      own.service, role, own.service);
    EXECUTE format('CREATE POLICY own_%s ON bus.members TO %I USING (consumer = %L)',
      own.service, role, own.service);
  END LOOP;
END $$`;
